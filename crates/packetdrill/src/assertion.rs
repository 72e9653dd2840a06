//! Evaluates the assertions of a script about a connection: comparisons of `tcpi_` names, of
//! variables that the script has set, and of numbers.
//!
//! It interprets a handful of Python statements; it never runs Python.

use std::collections::BTreeMap;

/// Variables of a script, kept from one code block to the next.
pub type Variables = BTreeMap<String, i64>;

/// Checks all assertions of `code`; `value` looks up names that are not variables.
///
/// # Errors
/// The first assertion that fails or cannot be parsed.
pub fn check(
    code: &str,
    variables: &mut Variables,
    value: impl Fn(&str) -> Option<i64>,
) -> Result<(), String> {
    let lines = code.lines().map(|line| line.split('#').next().unwrap_or_default());
    for statement in lines.flat_map(|line| line.split(';')).map(str::trim) {
        if statement.is_empty() || statement.starts_with("print(") {
            continue;
        }
        let known = |name: &str| variables.get(name).copied().or_else(|| value(name));
        let Some(condition) = statement.strip_prefix("assert ") else {
            let (name, number) = assigned(statement, &known)?;
            variables.insert(name, number);
            continue;
        };
        // An error message follows the comma.
        let condition = condition.split(',').next().unwrap_or_default().trim();
        for part in condition.split(" and ") {
            check_comparison(part.trim(), &known)?;
        }
    }
    Ok(())
}

fn check_comparison(text: &str, value: &impl Fn(&str) -> Option<i64>) -> Result<(), String> {
    type Compare = fn(&i64, &i64) -> bool;
    const OPERATORS: [(&str, Compare); 6] = [
        ("==", i64::eq),
        ("!=", i64::ne),
        ("<=", i64::le),
        (">=", i64::ge),
        ("<", i64::lt),
        (">", i64::gt),
    ];
    let found = OPERATORS.iter().find_map(|(operator, compare)| {
        text.split_once(operator).map(|(left, right)| (left, right, compare))
    });
    let (left, right, compare) = found.ok_or_else(|| format!("not understood: {text}"))?;
    let (a, b) = (number(left, value)?, number(right, value)?);
    if compare(&a, &b) { Ok(()) } else { Err(format!("{text}: it is {a}")) }
}

/// Parses `name = number` or `name += number`; returns the name and its new value.
fn assigned(text: &str, value: &impl Fn(&str) -> Option<i64>) -> Result<(String, i64), String> {
    let (name, right) = text.split_once('=').ok_or_else(|| format!("not understood: {text}"))?;
    let (name, before) = match name.trim_end().strip_suffix('+') {
        Some(name) => (name, number(name, value)?),
        None => (name, 0),
    };
    let name = name.trim();
    if !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
        return Err(format!("not understood: {text}"));
    }
    Ok((name.to_owned(), before + number(right, value)?))
}

fn number(text: &str, value: &impl Fn(&str) -> Option<i64>) -> Result<i64, String> {
    let text = text.trim();
    let hexadecimal =
        text.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok());
    let known = text.parse().ok().or(hexadecimal).or_else(|| value(text));
    known.ok_or_else(|| format!("{text} is not known here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(name: &str) -> Option<i64> {
        (name == "two").then_some(2)
    }

    fn check(code: &str, value: impl Fn(&str) -> Option<i64>) -> Result<(), String> {
        super::check(code, &mut Variables::new(), value)
    }

    #[test]
    fn names_keep_the_numbers_that_a_script_gives_them() {
        let mut variables = Variables::new();
        let mut check = |code| super::check(code, &mut variables, two);
        assert_eq!(check("most = 0x10; most += two"), Ok(()));
        assert_eq!(check("assert most == 18"), Ok(()));
        assert_eq!(check("assert most < two"), Err("most < two: it is 18".into()));
        assert_eq!(check("x += 1"), Err("x is not known here".into()));
        assert_eq!(check("f(x) = 1"), Err("not understood: f(x) = 1".into()));
    }

    #[test]
    fn what_holds_passes_and_what_does_not_is_named() {
        assert_eq!(check("assert two == 2, two  # fine\nprint(two); assert two < 3", two), Ok(()));
        assert_eq!(check("assert two == 3, two", two), Err("two == 3: it is 2".into()));
        assert_eq!(check("assert two >= 2 and two != 2", two), Err("two != 2: it is 2".into()));
        assert_eq!(check("assert one == 1", two), Err("one is not known here".into()));
        assert_eq!(check("import os", two), Err("not understood: import os".into()));
    }
}
