package bloomset;

/** A failure. Its message is one sentence: what was wrong, where, and what to do. */
public final class BloomsetException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The class of a failure, for programs. */
    public enum Code {
        INVALID_ARGUMENT, NOT_FOUND, EXISTS, CORRUPT, UNSUPPORTED, INCOMPATIBLE, FULL, IO, OUT_OF_MEMORY
    }

    private final Code code;

    BloomsetException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** The class of the failure. */
    public Code code() {
        return code;
    }
}
