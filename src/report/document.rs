//! What a verb has to say, before anyone has decided how it will look: paragraphs, tables, pictures.
//!
//! Terminal, Markdown and HTML each draw the same document, so that a verb is written once and a format once.

use super::picture::Picture;

/// How words stand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Strong,
    Good,
    Bad,
}

/// A paragraph: words with their tones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<(Tone, String)>);

impl Text {
    /// Adds words.
    #[must_use]
    pub fn and(mut self, tone: Tone, words: impl Into<String>) -> Self {
        self.0.push((tone, words.into()));
        self
    }

    /// Words that stand out, to begin with.
    #[must_use]
    pub fn strong(words: impl Into<String>) -> Self {
        Self::default().and(Tone::Strong, words)
    }

    /// Adds words that do not stand out.
    #[must_use]
    pub fn plain(self, words: impl Into<String>) -> Self {
        self.and(Tone::Plain, words)
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self::default().plain(words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::default().plain(words)
    }
}

/// A table. Its first `left` columns hold words, the rest figures.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub caption: Option<Text>,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub left: usize,
}

impl Table {
    /// An empty table whose first column holds words and the others figures.
    #[must_use]
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&word| word.to_owned()).collect(), left: 1, ..Self::default() }
    }

    /// Says what is in it, right above.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<Text>) -> Self {
        self.caption = Some(caption.into());
        self
    }

    /// The first `left` columns hold words.
    #[must_use]
    pub fn left(mut self, left: usize) -> Self {
        self.left = left;
        self
    }

    /// False where no column has a name.
    #[must_use]
    pub fn has_header(&self) -> bool {
        self.header.iter().any(|word| !word.is_empty())
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }
}

/// A part of a document.
#[derive(Debug)]
pub enum Block {
    Paragraph(Text),
    Table(Table),
    /// Drawn by each format in its own way.
    Picture(Box<dyn Picture>),
    /// Short paragraphs under each other.
    Lines(Vec<Text>),
}

/// Everything that a verb has to say.
#[derive(Debug, Default)]
pub struct Document {
    pub title: Text,
    pub blocks: Vec<Block>,
}

impl Document {
    /// A document with nothing under its title yet.
    #[must_use]
    pub fn new(title: impl Into<Text>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: impl Into<Text>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// Adds a line to the lines above, or the first.
    pub fn line(&mut self, line: impl Into<Text>) {
        match self.blocks.last_mut() {
            Some(Block::Lines(lines)) => lines.push(line.into()),
            _ => self.blocks.push(Block::Lines(vec![line.into()])),
        }
    }

    /// Adds a table; one without rows is left out.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Adds a picture.
    pub fn picture(&mut self, picture: impl Picture + 'static) {
        self.blocks.push(Block::Picture(Box::new(picture)));
    }
}
