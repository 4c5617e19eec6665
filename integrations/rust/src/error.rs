use std::fmt;

/// Why a filter cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be read.
    Io,
    /// The bytes are no filter, or damaged.
    Corrupt,
    /// The filter has a kind or a feature that this crate does not read.
    Unsupported,
    /// The filter needs a secret key, or another one.
    Key,
}

/// A failure. Its text is one sentence: what was wrong, where, and what to do.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
    pub(crate) fn corrupt(message: &str) -> Self {
        Self::new(ErrorKind::Corrupt, format!("{message}; the file is damaged"))
    }
    /// The same with the name of the file.
    pub(crate) fn of(self, name: &str) -> Self {
        Self { message: format!("{name}: {}", self.message), ..self }
    }

    /// The kind of failure, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("the file cannot be read: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Fails with `corrupt` unless the condition holds.
pub(crate) fn check(holds: bool, otherwise: &str) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::corrupt(otherwise))
    }
}
