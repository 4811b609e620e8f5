//! Constant expressions, computed as they are read: `-8`, `(1<<3)+2`, `WARP_SZ*4`, `x > 2 ? 1 : 0`.

use super::cursor::clip;
use super::{Parser, Result, number};
use crate::ast::Constant;
use crate::lexer::{Kind, Token};

/// Nesting that no one writes; deeper text is an error instead of a stack overflow.
const MAX_DEPTH: u32 = 100;

/// Binary operators, longest first, with how tightly they bind.
const OPERATORS: &[(&str, u8)] = &[
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

impl<'t> Parser<'t> {
    /// The value of the expression that begins here.
    pub(crate) fn constant(&mut self) -> Result<Constant> {
        self.conditional(0)
    }

    /// The value of an integer expression, as two's complement.
    pub(crate) fn integer(&mut self) -> Result<i64> {
        let token = self.cursor.peek();
        match self.constant()? {
            Constant::Int { bits, .. } => Ok(bits.cast_signed()),
            _ => Err(self.cursor.error(token, "an integer belongs here, not a floating-point constant")),
        }
    }

    fn conditional(&mut self, depth: u32) -> Result<Constant> {
        let token = self.cursor.peek();
        let condition = self.binary(0, depth)?;
        if !self.cursor.eat(b'?') {
            return Ok(condition);
        }
        let yes = self.conditional(depth + 1)?;
        self.cursor.expect(b':')?;
        let no = self.conditional(depth + 1)?;
        match condition {
            Constant::Int { bits, .. } => Ok(if bits == 0 { no } else { yes }),
            _ => Err(self.cursor.error(token, "the condition of `?` is an integer")),
        }
    }

    /// Operators that bind more tightly than `above`.
    fn binary(&mut self, above: u8, depth: u32) -> Result<Constant> {
        let mut left = self.unary(depth)?;
        while let Some((operator, strength)) = self.operator().filter(|(_, strength)| *strength > above) {
            let token = self.cursor.next();
            if operator.len() == 2 {
                self.cursor.next();
            }
            let right = self.binary(strength, depth + 1)?;
            left = apply(operator, left, right).ok_or_else(|| {
                self.cursor.error(token, &format!("`{operator}` has no constant value for these operands"))
            })?;
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(&'static str, u8)> {
        let first = self.cursor.peek();
        let Kind::Punct(byte) = first.kind else { return None };
        let second = self.cursor.peek_at(1);
        let joined = matches!(second.kind, Kind::Punct(_)) && second.at == first.at + 1;
        let matches = |operator: &str| match operator.as_bytes() {
            [only] => *only == byte,
            [a, b] => joined && *a == byte && second.kind == Kind::Punct(*b),
            _ => false,
        };
        OPERATORS.iter().copied().find(|(operator, _)| matches(operator))
    }

    fn unary(&mut self, depth: u32) -> Result<Constant> {
        if depth > MAX_DEPTH {
            return Err(self.cursor.expected("an expression nested less deeply"));
        }
        let token = self.cursor.peek();
        let Kind::Punct(punct) = token.kind else { return self.literal(token) };
        match punct {
            b'(' => self.parenthesis(depth),
            b'-' | b'+' | b'~' | b'!' => {
                self.cursor.next();
                let value = self.unary(depth + 1)?;
                negate(punct, value)
                    .ok_or_else(|| self.cursor.error(token, &format!("`{}` takes an integer", token.text)))
            }
            _ => Err(self.cursor.expected("a constant")),
        }
    }

    /// `( … )`, or a cast: `(.u64) x`.
    fn parenthesis(&mut self, depth: u32) -> Result<Constant> {
        self.cursor.expect(b'(')?;
        let cast = self.cursor.peek();
        if cast.kind == Kind::Dotted {
            self.cursor.next();
            self.cursor.expect(b')')?;
            let value = self.unary(depth + 1)?;
            return match (cast.text, value) {
                ("u64", Constant::Int { bits, .. }) => Ok(Constant::Int { bits, unsigned: true }),
                ("s64", Constant::Int { bits, .. }) => Ok(Constant::Int { bits, unsigned: false }),
                _ => Err(self.cursor.error(cast, "constants are cast from integers to `.u64` or `.s64` only")),
            };
        }
        let value = self.conditional(depth + 1)?;
        self.cursor.expect(b')')?;
        Ok(value)
    }

    fn literal(&mut self, token: Token<'t>) -> Result<Constant> {
        if token.kind == Kind::Word && token.text == "WARP_SZ" {
            self.cursor.next();
            return Ok(int(32));
        }
        if token.kind != Kind::Number {
            return Err(self.cursor.expected("a constant"));
        }
        let Some(value) = number::parse(token.text) else {
            return Err(self
                .cursor
                .error(token, &format!("`{}` is not a number of at most 64 bits", clip(token.text))));
        };
        self.cursor.next();
        Ok(value)
    }
}

fn int(value: i64) -> Constant {
    Constant::Int { bits: value.cast_unsigned(), unsigned: false }
}

fn negate(operator: u8, value: Constant) -> Option<Constant> {
    Some(match (operator, value) {
        (b'+', value) => value,
        (b'-', Constant::Int { bits, unsigned }) => Constant::Int { bits: bits.wrapping_neg(), unsigned },
        (b'-', Constant::F32(bits)) => Constant::F32(bits ^ 1 << 31),
        (b'-', Constant::F64(bits)) => Constant::F64(bits ^ 1 << 63),
        (b'~', Constant::Int { bits, unsigned }) => Constant::Int { bits: !bits, unsigned },
        (b'!', Constant::Int { bits, .. }) => int(i64::from(bits == 0)),
        _ => return None,
    })
}

fn apply(operator: &str, left: Constant, right: Constant) -> Option<Constant> {
    match (left, right) {
        (Constant::Int { bits: a, unsigned: ua }, Constant::Int { bits: b, unsigned: ub }) => {
            // A shift has the type of what is shifted, all else is unsigned if one side is.
            let unsigned = ua || (ub && !matches!(operator, "<<" | ">>"));
            integers(operator, a, b, unsigned)
        }
        (Constant::F64(a), Constant::F64(b)) => floats(operator, f64::from_bits(a), f64::from_bits(b)),
        _ => None,
    }
}

fn integers(operator: &str, a: u64, b: u64, unsigned: bool) -> Option<Constant> {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    let order = if unsigned { a.cmp(&b) } else { sa.cmp(&sb) };
    let bits = match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if unsigned => a.checked_div(b)?,
        "/" if sb != 0 => sa.wrapping_div(sb).cast_unsigned(),
        "%" if unsigned => a.checked_rem(b)?,
        "%" if sb != 0 => sa.wrapping_rem(sb).cast_unsigned(),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<<" => a.checked_shl(shift).unwrap_or(0),
        ">>" if unsigned => a.checked_shr(shift).unwrap_or(0),
        ">>" => (sa >> shift.min(63)).cast_unsigned(),
        "&&" => return Some(int(i64::from(a != 0 && b != 0))),
        "||" => return Some(int(i64::from(a != 0 || b != 0))),
        _ => return Some(int(i64::from(compare(operator, Some(order))?))),
    };
    Some(Constant::Int { bits, unsigned })
}

fn floats(operator: &str, a: f64, b: f64) -> Option<Constant> {
    let value = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        _ => return Some(int(i64::from(compare(operator, a.partial_cmp(&b))?))),
    };
    Some(Constant::F64(value.to_bits()))
}

/// What a comparison operator says of an order; `None` for other operators.
fn compare(operator: &str, order: Option<std::cmp::Ordering>) -> Option<bool> {
    Some(match operator {
        "==" => order.is_some_and(std::cmp::Ordering::is_eq),
        "!=" => order.is_none_or(std::cmp::Ordering::is_ne),
        "<" => order.is_some_and(std::cmp::Ordering::is_lt),
        "<=" => order.is_some_and(std::cmp::Ordering::is_le),
        ">" => order.is_some_and(std::cmp::Ordering::is_gt),
        ">=" => order.is_some_and(std::cmp::Ordering::is_ge),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::cursor::Cursor;

    fn value(text: &str) -> Result<Constant> {
        let tokens = crate::lexer::lex(text)?;
        let ast = crate::ast::Ast {
            version: crate::module::PtxVersion { major: 7, minor: 0 },
            target: crate::module::Target { sm: 70, suffix: None },
            files: std::collections::HashMap::new(),
            items: Vec::new(),
        };
        let mut parser = Parser { cursor: Cursor::new(text, tokens), ast };
        let value = parser.constant()?;
        assert_eq!(parser.cursor.peek().kind, Kind::End, "{text}");
        Ok(value)
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, expected) in [
            ("(1<<3)+2", 10),
            ("1+2*3", 7),
            ("10-4-3", 3),
            ("-8", -8),
            ("- -8", 8),
            ("~0", -1),
            ("!5 + !0", 1),
            ("7/-2", -3),
            ("-1>>63", -1),
            ("1 | 6 & 4", 5),
            ("3 > 2 ? 10 : 20", 10),
            ("1 == 2 || 3 != 4 && 1", 1),
            ("WARP_SZ * 4", 128),
            ("0xFFFFFFFFFFFFFFFF / 2", i64::MAX),
            ("-1 < 1U", 0),
            ("(.s64)0xFFFFFFFFFFFFFFFF < 1", 1),
            ("1.5 < 2.0", 1),
            ("1 << 64", 0),
            ("7 % 4", 3),
        ] {
            let Ok(Constant::Int { bits, .. }) = value(text) else { panic!("{text}") };
            assert_eq!(bits.cast_signed(), expected, "{text}");
        }
        assert_eq!(value("-0f3F800000").unwrap(), Constant::F32((-1f32).to_bits()));
        assert_eq!(value("1.5 * 2.0").unwrap(), Constant::F64(3f64.to_bits()));
    }

    #[test]
    fn refuses_what_has_no_value() {
        for text in ["1/0", "1 % 0", "1.0 & 2.0", "~1.0", "(.f32)1", "(1", "1 +", "0f3F800000 + 1"] {
            assert!(value(text).is_err(), "{text}");
        }
        let deep = "(".repeat(100_000);
        assert!(value(&deep).unwrap_err().message.contains("nested less deeply"));
        assert!(value(&"-".repeat(100_000)).unwrap_err().message.contains("nested less deeply"));
        assert!(value(&"1?".repeat(100_000)).is_err());
    }
}
