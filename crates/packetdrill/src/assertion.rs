//! Evaluates what a script asserts of a connection: comparisons of `tcpi_` names with numbers.
//!
//! A handful of statements of Python, read and not executed.

/// Whether all assertions of `code` hold, for the values that `value` gives names.
///
/// # Errors
/// The first assertion that does not hold or is not understood.
pub fn check(code: &str, value: impl Fn(&str) -> Option<i64>) -> Result<(), String> {
    let lines = code.lines().map(|line| line.split('#').next().unwrap_or_default());
    for statement in lines.flat_map(|line| line.split(';')).map(str::trim) {
        if statement.is_empty() || statement.starts_with("print(") {
            continue;
        }
        let Some(condition) = statement.strip_prefix("assert ") else {
            return Err(format!("not understood: {statement}"));
        };
        // What follows the comma is the message.
        let condition = condition.split(',').next().unwrap_or_default().trim();
        for part in condition.split(" and ") {
            check_comparison(part.trim(), &value)?;
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
    let number = |text: &str| {
        let text = text.trim();
        let known = text.parse().ok().or_else(|| value(text));
        known.ok_or_else(|| format!("{text} is not known here"))
    };
    let (a, b) = (number(left)?, number(right)?);
    if compare(&a, &b) { Ok(()) } else { Err(format!("{text}: it is {a}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(name: &str) -> Option<i64> {
        (name == "two").then_some(2)
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
