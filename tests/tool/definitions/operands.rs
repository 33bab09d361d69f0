//! Stored operands that no variable names, and tensors of one name that are used together.

use crate::definitions::{fault, printed, teml};

const INPUTS: &str = "let A = tensor([2, 3]); let B = tensor([3, 4]); let C = tensor([4, 2]);
    init(A, |i, j| i + 2 * j + 1); init(B, |i, j| 3 * i - j); init(C, |i, j| 2 - i + j);
";

/// Both scripts print the same numbers.
fn agree(short: &str, named: &str) {
    let ran = |script: &str| teml(&["run"], &format!("{INPUTS}{script}"));
    let (expected, found) = (ran(named), ran(short));
    assert_eq!(expected.0, 0, "{}", expected.2);
    assert_eq!((found.0, found.1), (0, expected.1), "{short}\n{}", found.2);
}

#[test]
fn operands_of_calls_need_no_variables() {
    let named = "let x = contract(A, B, [2, 1]); let y = contract(x, C, [2, 1]); print(run(y).y);";
    for short in [
        "let y = contract(contract(A, B, [2, 1]), C, [2, 1]); print(run(y).y);",
        "let y = contract(contract(A, B, [2, 1]), C, [2, 1]); print(run(build(y)).y);",
        "let y = [B, C].reduce(|l, r| contract(l, r, [2, 1]), A); print(run(y).y);",
        "fn chain(l, rest) {
             if rest.is_empty() { return l; }
             let r = rest.remove(0);
             chain(contract(l, r, [2, 1]), rest)
         }
         let y = chain(A, [B, C]); print(run(y).y);",
        "fn chain(l, rest) { let t = l; for r in rest { t = contract(t, r, [2, 1]); } t }
         let y = eq(chain(A, [B, C]), [i, j] -> [i, j]); print(run(y).y);",
        "let steps = [A];
         for r in [B, C] { let t = contract(steps[steps.len() - 1], r, [2, 1]); steps.push(t); }
         let y = eq(steps[2], [i, j] -> [i, j]); print(run(y).y);",
        "let u = [contract(A, B, [2, 1])]; let y = contract(u[0], C, [2, 1]); print(run(y).y);",
        "let y = einsum(\"ij,jk->ik\", contract(A, B, [2, 1]), C); print(run(build(y)).y);",
    ] {
        agree(short, named);
    }
}

#[test]
fn an_operand_is_computed_once_before_its_operands_change() {
    agree(
        "let u = [2 * A]; let z = eq(u[0], [i, j] -> [i, j]); let y = eq(vadd(z, z, [[i, j], [i, j]]), [i, j]);
         print(run(y).y);",
        "let y = eq(4 * vat(A, [i, j]), [i, j]); print(run(y).y);",
    );
    agree(
        "let u = [transpose(A, [[1, 2]])];
         A = eq(0 * vat(A, [i, j]), [i, j]);
         let y = entrywise_add(u[0], u[0]);
         print(nests(y).len()); print(run(y).y);",
        "let u = transpose(A, [[1, 2]]); let y = entrywise_add(u, u); print(2); print(run(y).y);",
    );
}

#[test]
fn the_name_is_not_one_of_the_script() {
    let script = "let y = contract(contract(A, B, [2, 1]), C, [2, 1]); print(build(y));";
    let expected = "\
        f64 A[2][3], B[3][4], y[2][2], C[4][2]
local f64 t[2][4]
fill t[0..2][0..4] = 0
for i1 in 0..2
  for i2 in 0..4
    for i3 in 0..3
      t[i1][i2] += A[i1][i3] * B[i3][i2]
fill y[0..2][0..2] = 0
for i1_2 in 0..2
  for i2_2 in 0..2
    for i3_2 in 0..4
      y[i1_2][i2_2] += t[i1_2][i3_2] * C[i3_2][i2_2]
";
    assert_eq!(printed(&format!("{INPUTS}{script}")), expected);
    let taken =
        format!("{INPUTS}let t = 3; {script}").replace("print(build", "print(t); print(build");
    assert_eq!(
        printed(&taken),
        format!("3\n{}", expected.replace("t[", "t_2["))
    );
}

#[test]
fn tensors_of_a_loop_can_be_used_together() {
    let parts = "let parts = [];
        for k in 1..4 { let t = eq(k * vat(A, [i, j]), [i, j]); parts.push(t); }";
    agree(
        &format!("{parts} let s = entrywise_add(parts); print(run(s).s); print(parts[1]);"),
        "let s = eq(6 * vat(A, [i, j]), [i, j]); print(run(s).s);
         let t_2 = eq(2 * vat(A, [i, j]), [i, j]); print(t_2);",
    );
    let fold = "let t = A; for r in [B, C, A] { t = contract(t, r, [2, 1]); }
        for nest in nests(t) { print(nest.label()); }";
    let fold = fold.replace(
        "nest.label()",
        "accesses(nest).filter(|a| a.write)[0].tensor",
    );
    assert_eq!(printed(&format!("{INPUTS}{fold}")), "t\nt_2\nt_3\n");
    let (message, at) = fault(&format!(
        "{INPUTS}{parts} let old = build(parts[1]); let s = entrywise_add(parts); check(old);"
    ));
    assert!(
        message.contains("has a tensor `t` that is now named `t_2`"),
        "{message}"
    );
    assert_eq!(at, "old");
}

#[test]
fn functions_need_no_iterators() {
    agree(
        "let y = tanh(A); let z = cast(relu(A - 3), \"f32\"); let w = eq(vtanh(A) + 1, [i, j] -> [i, j]);
         print(run(y).y); print(run(z).z); print(run(w).w); print(exp(0.0));",
        "let y = eq(vtanh(A, [i, j]), [i, j]); let z = eq(vcast(vrelu(vat(A, [i, j]) - 3), \"f32\"), [i, j]);
         let w = eq(vtanh(A, [i, j]) + 1, [i, j]);
         print(run(y).y); print(run(z).z); print(run(w).w); print(1.0);",
    );
    agree(
        "A = tanh(A); print(run(A).A);",
        "A = eq(vtanh(A, [i, j]), [i, j]); print(run(A).A);",
    );
    agree(
        "let y = eq(tanh(vat(A, [j, i])) + vat(A, [j, i]), [i, j]); print(run(y).y);",
        "let y = eq(vtanh(A, [j, i]) + vat(A, [j, i]), [i, j]); print(run(y).y);",
    );
}

const DOUBLED: &str = "fn twice(a) { sac { iv -> a[iv] * 2 } }";

#[test]
fn array_expressions_take_operands_without_variables() {
    let named = "let y = eq(4 * vat(A, [i, j]), [i, j]); print(run(y).y);";
    for short in [
        "let y = twice(twice(A)); print(run(y).y);",
        "let y = twice(twice(A)); print(run(build(y)).y);",
        "let y = twice(twice(A)); print(run(program(y)).y);",
        "let y = eq(twice(twice(A)), [i, j] -> [i, j]); print(run(nests(y)).y);",
        "let y = entrywise_add(twice(A), twice(A)); print(run(y).y);",
        "let u = [twice(A)]; let v = u[0]; let y = twice(v); print(run(y).y);",
        // The name of the script, and the inner of two variables.
        "let v = 7; { let u = [twice(A)]; let v = u[0]; let w = twice(v); print(run(w).w); }",
    ] {
        agree(&format!("{DOUBLED} {short}"), named);
    }
    let script = format!("{INPUTS}{DOUBLED} let y = twice(twice(A)); print(program(y));");
    let expected = "\
input f64 A[2][3]
f64 t[2][3]
output f64 y[2][3]
t[i1][i2] = A[i1][i2] * 2
y[i1][i2] = t[i1][i2] * 2
";
    assert_eq!(printed(&script), expected);
}

#[test]
fn array_expressions_are_operands() {
    agree(
        "let v = eq(vat(A, [1, j]), [j]);
         let w = eq((sac { [i] -> v[i] * 2 }) + v, [i] -> [i]); print(run(w).w);",
        "let w = eq(3 * vat(A, [1, j]), [j]); print(run(w).w);",
    );
    // Tensors of one name are told apart.
    agree(
        "let parts = []; for k in 1..3 { let t = eq(k * vat(A, [i, j]), [i, j]); parts.push(t); }
         let a = parts[0]; let b = parts[1];
         let y = sac { iv -> a[iv] - b[iv] }; print(run(y).y);",
        "let y = eq(0 - vat(A, [i, j]), [i, j]); print(run(y).y);",
    );
}

#[test]
fn array_expressions_refuse_expressions_without_memory() {
    let (message, at) = fault(&format!(
        "{INPUTS} fn f(a) {{ sac {{ iv -> a[iv] }} }} let y = f(vat(A, [i, j]));"
    ));
    assert!(
        message.contains("`a` is an expression without memory; variables here are"),
        "{message}"
    );
    assert_eq!(at, "a");
}

#[test]
fn virtual_operations_need_no_iterators() {
    agree(
        "let x = relu(vadd(A, 1.0)); let y = eq(vsub(2, vmul(A, x)), [i, j] -> [i, j]);
         A = relu(vadd(A, -2.0)); print(run(x).x); print(run(y).y); print(run(A).A);
         let z = stored(vselect(A, \">\", 1, vmaximum(A, x), 0)); print(run(z).z);
         let s = scalar(); init(s, 3.0); let w = sum(vmul(vdiv(A, s), A)); print(run(w).w);",
        "let x = eq(vrelu(vat(A, [i, j]) + 1), [i, j]);
         let y = eq(2 - vat(A, [i, j]) * vat(x, [i, j]), [i, j]);
         A = eq(vrelu(vat(A, [i, j]) - 2), [i, j]); print(run(x).x); print(run(y).y); print(run(A).A);
         let z = eq(vselect(A, \">\", 1, vmaximum(A, x, [[i, j], [i, j]]), 0, [[i, j]]), [i, j]);
         print(run(z).z);
         let s = scalar(); init(s, 3.0);
         let w = sum(vmul(vdiv(A, s, [[i, j], ]), A, [, [i, j]])); print(run(w).w);",
    );
    for (call, expected) in [
        (
            "vadd(A, B)",
            "vadd: A has the shape [2, 3] and B [3, 4]: from the last dimension on, extents are \
             equal or 1",
        ),
        (
            "vselect(A, \"<\", 0, 1, C)",
            "vselect: A has the shape [2, 3] and C [4, 2]: from the last dimension on, extents are \
             equal or 1",
        ),
        (
            "vadd(A, vat(A, [i, j]))",
            "vadd: A has no iterators yet, and none are given for its 2 dimensions",
        ),
    ] {
        let (message, _) = fault(&format!("{INPUTS} {call};"));
        assert_eq!(message, expected);
    }
}
