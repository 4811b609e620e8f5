//! What a kernel in PTX takes: its parameters, and what its text says of its launches.

use gridstride_ptx::{Function, LaunchBounds, Param, Type};

use crate::array::Element;
use crate::error::{Error, Result};

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Name in the PTX.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// What one value of it is, where the PTX says so much: `.u64` is, `.b8 x[16]` is not.
    pub element: Option<Element>,
}

/// A kernel of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// `.maxntid` and the like, as written.
    pub bounds: LaunchBounds,
}

/// The kernels of PTX text, in order.
///
/// # Errors
/// [`Error::NotPtx`] with the line and column of what cannot be read.
pub fn signatures(ptx: &str) -> Result<Vec<Signature>> {
    let module = gridstride_ptx::parse(ptx).map_err(|error| Error::NotPtx { reason: error.to_string() })?;
    let defined = |function: &&Function| function.is_entry && !function.blocks.is_empty();
    Ok(module.functions.iter().filter(defined).map(signature).collect())
}

fn signature(function: &Function) -> Signature {
    let parameters = function.params.iter().map(|param| parameter(function, *param)).collect();
    Signature { name: function.name.to_string(), parameters, bounds: function.bounds }
}

fn parameter(function: &Function, param: Param) -> Parameter {
    match param {
        Param::Var(id) => {
            let var = &function.vars[id.0 as usize];
            let element = element(var.ty).filter(|element| element.bytes() as u64 == var.size);
            Parameter { name: var.name.to_string(), bytes: var.size, element }
        }
        // Only device functions have these.
        Param::Reg(id) => {
            let register = &function.regs[id.0 as usize];
            let element = element(register.ty);
            Parameter { name: register.name.to_string(), bytes: element.map_or(0, |e| e.bytes() as u64), element }
        }
    }
}

/// The element type of a PTX type; untyped bits count as unsigned.
fn element(ty: Type) -> Option<Element> {
    Some(match ty {
        Type::B8 | Type::U8 => Element::U8,
        Type::S8 => Element::I8,
        Type::B16 | Type::U16 => Element::U16,
        Type::S16 => Element::I16,
        Type::F16 => Element::F16,
        Type::B32 | Type::U32 => Element::U32,
        Type::S32 => Element::I32,
        Type::F32 => Element::F32,
        Type::B64 | Type::U64 => Element::U64,
        Type::S64 => Element::I64,
        Type::F64 => Element::F64,
        Type::Pred | Type::B128 | Type::F16x2 | Type::BF16 | Type::BF16x2 => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_as_the_text_has_them() {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a, .param .f32 b, .param .align 8 .b8 c[16])\n\
                    .reqntid 64, 1, 1 { ret; }\n.func f() { ret; }";
        let [kernel] = &signatures(text).unwrap()[..] else { panic!("one kernel") };
        let shapes: Vec<_> = kernel.parameters.iter().map(|p| (p.name.as_str(), p.bytes, p.element)).collect();
        assert_eq!(shapes, [("a", 8, Some(Element::U64)), ("b", 4, Some(Element::F32)), ("c", 16, None)]);
        assert_eq!(kernel.bounds.required_threads, Some([64, 1, 1]));
        let error = signatures("hello").unwrap_err().to_string();
        assert!(error.contains("line 1") || error.contains("1:"), "{error}");
    }
}
