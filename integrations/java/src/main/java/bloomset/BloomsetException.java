package bloomset;

/** A failure. Its message is one sentence: what was wrong, where, and what to do. */
public final class BloomsetException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The class of a failure, for programs. */
    public enum Code {
        INVALID_ARGUMENT, NOT_FOUND, EXISTS, CORRUPT, UNSUPPORTED, INCOMPATIBLE, FULL, IO, OUT_OF_MEMORY
    }

    private final Code code;
    private long contained;

    BloomsetException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** The class of the failure. */
    public Code code() {
        return code;
    }

    /** For code FULL, how many of the keys of the call are in the filter: the first ones. */
    public long contained() {
        return contained;
    }

    void setContained(long keys) {
        contained = keys;
    }
}
