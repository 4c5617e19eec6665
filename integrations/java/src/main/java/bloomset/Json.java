package bloomset;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads well-formed JSON, such as that of the module. Whole numbers are Long, or BigInteger beyond it. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        return (Map<String, Object>) new Json(text).value();
    }

    private Object value() {
        switch (next()) {
            case '{':
                Map<String, Object> object = new LinkedHashMap<>();
                for (++at; next() != '}'; skip(',')) {
                    String name = string();
                    skip(':');
                    object.put(name, value());
                }
                ++at;
                return object;
            case '[':
                List<Object> list = new ArrayList<>();
                for (++at; next() != ']'; skip(',')) list.add(value());
                ++at;
                return list;
            case '"':
                return string();
            case 't':
                at += 4;
                return true;
            case 'f':
                at += 5;
                return false;
            case 'n':
                at += 4;
                return null;
            default:
                return number();
        }
    }

    private char next() {
        while (" \t\r\n".indexOf(text.charAt(at)) >= 0) ++at;
        return text.charAt(at);
    }

    private void skip(char separator) {
        if (next() == separator) ++at;
    }

    private Object number() {
        int begin = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) ++at;
        String digits = text.substring(begin, at);
        if (!digits.matches("-?[0-9]+")) return Double.valueOf(digits);
        return digits.length() < 19 ? (Object) Long.valueOf(digits) : new BigInteger(digits);
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (++at; text.charAt(at) != '"'; ++at) {
            char c = text.charAt(at);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            c = text.charAt(++at);
            if (c == 'u') {
                out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                at += 4;
            } else {
                out.append(c == 'n' ? '\n' : c == 't' ? '\t' : c);
            }
        }
        ++at;
        return out.toString();
    }
}
