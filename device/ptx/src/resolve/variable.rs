//! Sizes and initial contents of variables.

use super::scope::{Found, Name, Scopes};
use super::{Resolver, Result, index};
use crate::ast::{Constant, Init as InitAst, InitAddress, Variable};
use crate::module::{Global, GlobalId, Init, Linkage, Reloc, Space, Symbol, Type, Var};

/// `.align` if written, else that of an element.
pub(crate) fn alignment(variable: &Variable<'_>) -> u32 {
    variable.align.unwrap_or(variable.ty.bytes() * variable.lanes)
}

impl<'t> Resolver<'t> {
    /// A variable of a function; `scopes` are those of its initialiser.
    pub(crate) fn var(&mut self, variable: &Variable<'t>, scopes: Option<&Scopes<'t>>) -> Result<Var> {
        let (size, init) = self.contents(variable, scopes)?;
        let may_lack = variable.space == Space::Param || variable.linkage == Linkage::Extern;
        if size.is_none() && !may_lack {
            return Err(self.error(variable.name, &format!("the array `{}` has no length", variable.name.text)));
        }
        let name = self.intern(variable.name.text);
        let (space, ty, align) = (variable.space, variable.ty, alignment(variable));
        Ok(Var { name, space, ty, align, size: size.unwrap_or(0), init })
    }

    /// A `.global` or `.const` variable of the function `owner`, which becomes one of the module under a name that no text can
    /// give to another.
    pub(crate) fn own_global(&mut self, variable: &Variable<'t>, scopes: &Scopes<'t>, owner: &str) -> Result<GlobalId> {
        let Var { name, space, align, size, init, .. } = self.var(variable, Some(scopes))?;
        self.module.globals.push(Global {
            name: format!("{owner}.{name}").into(),
            space,
            linkage: variable.linkage,
            align,
            size: Some(size),
            init,
            line: variable.name.line,
        });
        Ok(GlobalId(index(self.module.globals.len() - 1)))
    }

    /// Size in bytes (`None` for an array without a length) and initial contents.
    pub(crate) fn contents(
        &mut self,
        variable: &Variable<'t>,
        scopes: Option<&Scopes<'t>>,
    ) -> Result<(Option<u64>, Option<Init>)> {
        let mut sizes = self.sizes(variable)?;
        let Some(init) = &variable.init else { return Ok((sizes[0], None)) };
        if !matches!(variable.space, Space::Global | Space::Const) || variable.linkage == Linkage::Extern {
            let message = "only a `.global` or `.const` variable that is defined here can have initial contents";
            return Err(self.error(variable.name, message));
        }
        let mut filler = Filler { resolver: self, variable, scopes, sizes: &sizes, out: Init::default() };
        match init {
            InitAst::List(parts) => filler.list(parts, 0)?,
            value => filler.value(value)?,
        }
        let out = filler.out;
        let length = out.bytes.len() as u64;
        // `x[] = { … }`: as many rows as the initialiser begins.
        let row = sizes.get(1).copied().flatten().unwrap_or(1).max(1);
        let size = *sizes[0].get_or_insert(length.div_ceil(row) * row);
        if length > size {
            let message = format!("the initialiser has {length} bytes, `{}` has {size}", variable.name.text);
            return Err(self.error(variable.name, &message));
        }
        Ok((Some(size), Some(out)))
    }

    /// Bytes of the whole, of a row, of an element of a row and so on; `None` for a whole without a length.
    fn sizes(&self, variable: &Variable<'_>) -> Result<Vec<Option<u64>>> {
        let mut size = u64::from(variable.ty.bytes());
        let mut sizes = Vec::new();
        if variable.lanes > 1 {
            size *= u64::from(variable.lanes);
            sizes.push(Some(size));
        }
        for (place, length) in variable.dimensions.iter().enumerate().rev() {
            let Some(length) = length else {
                if place == 0 {
                    sizes.push(None);
                    break;
                }
                return Err(self.error(variable.name, "only the first dimension of an array may lack a length"));
            };
            let product = size.checked_mul(*length).filter(|size| i64::try_from(*size).is_ok());
            size = product.ok_or_else(|| {
                self.error(variable.name, &format!("the size of `{}` does not fit", variable.name.text))
            })?;
            sizes.push(Some(size));
        }
        if sizes.is_empty() {
            sizes.push(Some(size));
        }
        sizes.reverse();
        Ok(sizes)
    }
}

/// Writes an initialiser.
struct Filler<'a, 't> {
    resolver: &'a mut Resolver<'t>,
    variable: &'a Variable<'t>,
    scopes: Option<&'a Scopes<'t>>,
    sizes: &'a [Option<u64>],
    out: Init,
}

impl<'t> Filler<'_, 't> {
    fn list(&mut self, parts: &[InitAst<'t>], depth: usize) -> Result<()> {
        let start = self.out.bytes.len();
        for part in parts {
            match part {
                InitAst::List(parts) => self.list(parts, depth + 1)?,
                value => self.value(value)?,
            }
        }
        if depth == 0 {
            return Ok(());
        }
        // An inner list fills its row, with zeros where it is short.
        let row = self.sizes.get(depth).copied().flatten().unwrap_or(u64::from(self.variable.ty.bytes()));
        let used = (self.out.bytes.len() - start) as u64;
        let name = self.variable.name;
        let Some(padding) = row.checked_sub(used) else {
            let message = format!("a list in the initialiser of `{}` has {used} bytes, its row {row}", name.text);
            return Err(self.resolver.error(name, &message));
        };
        let Some(left) = self.resolver.padding_left.checked_sub(padding) else {
            return Err(self
                .resolver
                .error(name, "initialisers with this much space between values are not supported"));
        };
        self.resolver.padding_left = left;
        self.out.bytes.resize(start + usize::try_from(row).expect("less than the padding allows"), 0);
        Ok(())
    }

    fn value(&mut self, value: &InitAst<'t>) -> Result<()> {
        let ty = self.variable.ty;
        match value {
            InitAst::List(_) => unreachable!("lists are taken apart by the caller"),
            InitAst::Address(address) => self.address(address),
            InitAst::Number(value, token) => {
                let Some(bits) = bits(ty, *value) else {
                    let message = format!("`{}` is no value of type `.{}`", token.text, ty.name());
                    return Err(self.resolver.error(*token, &message));
                };
                self.out.bytes.extend_from_slice(&bits.to_le_bytes()[..ty.bytes() as usize]);
                Ok(())
            }
        }
    }

    fn address(&mut self, address: &InitAddress<'t>) -> Result<()> {
        let InitAddress { symbol: token, addend, generic, mask } = *address;
        let local = self.scopes.and_then(|scopes| scopes.find(token.text)).and_then(|found| match found {
            Found::Name(Name::Var(var)) => Some(Symbol::Var(*var)),
            Found::Name(Name::Global(global)) => Some(Symbol::Global(*global)),
            _ => None,
        });
        let Some(symbol) = local.or_else(|| self.resolver.symbol(token.text)) else {
            let known = self.resolver.symbols.keys().copied();
            let hint = super::nearest::nearest(token.text, known);
            let hint = hint.map_or(String::new(), |near| format!("; `{near}` is"));
            let message = format!("`{}` is not declared at module scope{hint}", token.text);
            return Err(self.resolver.error(token, &message));
        };
        let ty = self.variable.ty;
        let (shift, width) = match mask {
            None => (0, ty.bytes().min(8)),
            Some(mask) => masked(mask, ty.bytes()).ok_or_else(|| {
                self.resolver.error(token, &format!("the mask {mask:#x} does not cut a `.{}` of an address", ty.name()))
            })?,
        };
        if ty.is_float() || ty == Type::Pred || (mask.is_none() && width < 4) {
            let message = format!("an address does not fit a variable of type `.{}`", ty.name());
            return Err(self.resolver.error(token, &message));
        }
        let offset = self.out.bytes.len() as u64;
        self.out.relocs.push(Reloc { offset, width, shift, symbol, addend, generic });
        self.out.bytes.resize(self.out.bytes.len() + ty.bytes() as usize, 0);
        Ok(())
    }
}

/// Shift and width of the bytes that a mask such as `0xFF00` cuts from an address.
fn masked(mask: u64, bytes: u32) -> Option<(u32, u32)> {
    let (shift, ones) = (mask.trailing_zeros(), mask.count_ones());
    let run = shift + ones + mask.leading_zeros() == u64::BITS;
    (mask != 0 && run && shift % 8 == 0 && ones % 8 == 0 && ones / 8 <= bytes).then_some((shift, ones / 8))
}

/// A constant as a value of type `ty`, in its low bits; `None` if it has no such value.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "what the conversion means")]
fn bits(ty: Type, value: Constant) -> Option<u128> {
    Some(match (ty, value) {
        (Type::Pred, _) => return None,
        (Type::F32, Constant::Int { bits, unsigned: true }) => u128::from((bits as f32).to_bits()),
        (Type::F32, Constant::Int { bits, .. }) => u128::from((bits.cast_signed() as f32).to_bits()),
        (Type::F64, Constant::Int { bits, unsigned: true }) => u128::from((bits as f64).to_bits()),
        (Type::F64, Constant::Int { bits, .. }) => u128::from((bits.cast_signed() as f64).to_bits()),
        (_, Constant::Int { bits, unsigned: true }) => u128::from(bits),
        (_, Constant::Int { bits, .. }) => i128::from(bits.cast_signed()).cast_unsigned(),
        (Type::F32 | Type::B32 | Type::U32 | Type::S32, Constant::F32(bits)) => u128::from(bits),
        (Type::F64, Constant::F32(bits)) => u128::from(f64::from(f32::from_bits(bits)).to_bits()),
        (Type::F64 | Type::B64 | Type::U64 | Type::S64, Constant::F64(bits)) => u128::from(bits),
        (Type::F32 | Type::B32, Constant::F64(bits)) => u128::from((f64::from_bits(bits) as f32).to_bits()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_cut_whole_bytes() {
        assert_eq!(masked(0xFF, 1), Some((0, 1)));
        assert_eq!(masked(0xFF00_0000_0000_0000, 1), Some((56, 1)));
        assert_eq!(masked(0xFFFF_0000, 4), Some((16, 2)));
        for (mask, bytes) in [(0, 1), (0xFFFF, 1), (0xF0F, 8), (0xF, 1), (0xFF0, 1)] {
            assert_eq!(masked(mask, bytes), None);
        }
    }

    #[test]
    fn constants_take_the_type_of_the_variable() {
        let minus = Constant::Int { bits: u64::MAX, unsigned: false };
        assert_eq!(bits(Type::B128, minus), Some(u128::MAX));
        assert_eq!(bits(Type::F32, minus), Some(u128::from((-1f32).to_bits())));
        assert_eq!(bits(Type::F64, Constant::F32(1f32.to_bits())), Some(u128::from(1f64.to_bits())));
        assert_eq!(bits(Type::F32, Constant::F64(0.5f64.to_bits())), Some(u128::from(0.5f32.to_bits())));
        assert_eq!(bits(Type::F32, Constant::F32(0x7FA0_0001)), Some(0x7FA0_0001), "a NaN keeps its payload");
        assert_eq!(bits(Type::B8, Constant::F32(0)), None);
    }
}
