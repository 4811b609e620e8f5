//! A reader for PTX: text to syntax tree to checked module to control-flow graph.
