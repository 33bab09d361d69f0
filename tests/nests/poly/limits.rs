//! Errors and limits, and their independence across threads.

use teml::poly::{
    Error, Linear, Map, Piece, Relation, Set, UnionMap, UnionSet, available, bounded,
};

#[test]
fn without_the_library_there_is_an_error_that_names_the_package() {
    // Runs this test in its own process, which looks for isl in a wrong place.
    if std::env::var_os("TEML_ISL").is_some() {
        let error = available().unwrap_err();
        assert!(
            error.to_string().contains("`apt install libisl23`"),
            "{error}"
        );
        assert!(
            error.to_string().contains("/nowhere/libisl.so: "),
            "{error}"
        );
        assert_eq!(Set::read("{ [i] }").unwrap_err(), error);
        assert_eq!(UnionMap::new(&[]).unwrap_err(), error);
        assert_eq!(bounded(5, || Ok(())), Err(error));
        return;
    }
    available().unwrap();
    let name = "poly::limits::without_the_library_there_is_an_error_that_names_the_package";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env("TEML_ISL", "/nowhere/libisl.so")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn text_that_is_no_set_is_an_error_that_shows_it() {
    for text in [
        "",
        "S",
        "{",
        "{ S[i }",
        "{ S[i] : i < }",
        "{ S[i] : j < 0 }",
        "{ S[i] : i*i < 3 }",
        "{ S[i] -> T[i] }",
        "{ S[i] } and more",
        "{ S[i] } + { T[i] }",
        "{ S[i]\0 }",
    ] {
        let error = Set::read(text).unwrap_err();
        assert!(matches!(error, Error::Text { .. }), "{text}: {error}");
        assert!(error.to_string().ends_with(text), "{text}: {error}");
    }
    assert!(UnionSet::read("{ S[i] -> T[i] }").is_err());
    // A variable that nothing introduces.
    let piece = Piece::set("S", ["i"]).constrain("j", Relation::Less, 3);
    assert!(matches!(Set::new(&[piece]), Err(Error::Text { .. })));
}

#[test]
fn sets_that_do_not_fit_together_are_an_error_that_names_the_function() {
    let (one, two) = (
        Set::read("{ S[i] }").unwrap(),
        Set::read("{ S[i, j] }").unwrap(),
    );
    let Err(Error::Failed { function, reason }) = one.intersect(&two) else {
        panic!("they fit");
    };
    assert_eq!(function, "set_intersect");
    assert!(
        !reason.is_empty() && reason != "no reason given",
        "{reason}"
    );
    assert!(one.project_out(0..2).is_err());
    assert!(one.project_out(7..usize::MAX).is_err());
    let both = one
        .to_union()
        .unwrap()
        .union(&two.to_union().unwrap())
        .unwrap();
    assert!(both.to_set().is_err());
    // Calls work after an error.
    assert_eq!(one.is_empty(), Ok(false));
}

#[test]
fn points_that_cannot_be_listed_are_errors() {
    let all = Set::read("{ S[i] }").unwrap();
    assert_eq!(all.points(10), Err(Error::Unbounded));
    assert_eq!(all.count(10), Err(Error::Unbounded));
    assert!(all.sample().unwrap().is_some());
    assert!(all.lexmin().is_err());
    let some = Set::read("[n] -> { S[i] : 0 <= i < n }").unwrap();
    assert_eq!(some.points(10), Err(Error::Parameters));
    assert_eq!(some.sample(), Err(Error::Parameters));
    let ten = UnionSet::read("{ S[i] : 0 <= i < 5; T[i] : 0 <= i < 5 }").unwrap();
    assert_eq!(ten.points(9), Err(Error::TooMany { limit: 9 }));
    assert_eq!(ten.count(9), Err(Error::TooMany { limit: 9 }));
    assert_eq!(ten.count(10), Ok(10));
    let ten = ten.identity().unwrap();
    assert_eq!(ten.pairs(9), Err(Error::TooMany { limit: 9 }));
    assert_eq!(ten.count(10), Ok(10));
    let large = Set::read("{ S[9223372036854775808] }").unwrap();
    assert!(matches!(large.points(1), Err(Error::Failed { .. })));
    assert!(matches!(large.sample(), Err(Error::Failed { .. })));
    for extreme in [i64::MIN, i64::MAX] {
        let set = Piece::set("S", ["i"]).constrain("i", Relation::Equal, extreme);
        let points = Set::new(&[set]).unwrap().points(1).unwrap();
        assert_eq!(points[0].coordinates, [extreme]);
    }
}

#[test]
fn no_points_no_coordinates() {
    let none = UnionSet::new(&[]).unwrap();
    assert_eq!(none.is_empty(), Ok(true));
    assert_eq!(none.sample(), Ok(None));
    let scalar = Set::new(&[Piece::set("S", [])]).unwrap();
    assert!(scalar.points(1).unwrap()[0].coordinates.is_empty());
    assert_eq!(
        scalar.sample().unwrap().unwrap().tuple.as_deref(),
        Some("S")
    );
    assert_eq!(
        Set::read("{ S[i] : i < 0 and i > 0 }").unwrap().sample(),
        Ok(None)
    );
}

#[test]
fn every_name_is_a_name() {
    let words = "and ceil ceild exists False floor floord implies infinity infty MAX min mod NaN \
                 not or rat true i_o i_u0 A tmp1 e0 i0 o0 a.b x' _ __ 0 ö";
    let words: Vec<&str> = words.split_whitespace().chain(["", " ", "a b"]).collect();
    for tuple in words.iter().filter(|w| !w.is_empty()) {
        let mut piece = Piece::set(tuple, words.iter().copied());
        for (k, word) in (0..).zip(&words) {
            piece = piece.constrain(*word, Relation::Equal, k);
        }
        let point = Set::new(&[piece]).unwrap().sample().unwrap().unwrap();
        assert_eq!(point.tuple.as_deref(), Some(*tuple));
        let expected: Vec<i64> = (0..).take(words.len()).collect();
        assert_eq!(point.coordinates, expected);
    }
}

#[test]
fn values_may_use_hidden_variables() {
    // i = 4 a + b, as after a block of four.
    let whole = Linear::new([(4, "a"), (1, "b")], 0);
    let piece = Piece::set("S", ["i"])
        .to("T", ["a".into(), Linear::new([(1, "b")], 10)])
        .exists("a")
        .exists("b")
        .constrain("i", Relation::Equal, whole)
        .constrain(0, Relation::LessOrEqual, "b")
        .constrain("b", Relation::Less, 4);
    let map = Map::new(&[piece]).unwrap();
    let expected = "{ S[i] -> T[floor(i/4), 10 + (i mod 4)] }";
    assert_eq!(map.is_equal(&Map::read(expected).unwrap()), Ok(true));
}

/// Much work: the prime numbers below 2000, by crossing out.
fn primes() -> Result<usize, Error> {
    let mut left = Set::read("{ [i] : 2 <= i < 2000 }")?;
    for k in 2..12 {
        let multiples = Set::read(&format!("{{ [i] : i mod {k} = 0 and i > {k} }}"))?;
        left = left.subtract(&multiples)?;
    }
    left.count(2000)
}

#[test]
fn what_takes_too_long_is_cut_off() {
    let small = || Set::read("{ S[i] : 0 <= i < 5 }")?.count(10);
    assert_eq!(
        bounded(2_000, primes),
        Err(Error::Quota { operations: 2_000 })
    );
    assert_eq!(bounded(0, small), Err(Error::Quota { operations: 0 }));
    // The count starts at 0 each time, and does not run outside.
    assert_eq!(bounded(2_000, small), Ok(5));
    let inner = bounded(2_000, || bounded(1, small));
    assert_eq!(inner, Err(Error::Quota { operations: 1 }));
    assert_eq!(
        bounded(2_000, || {
            // Exceeding an inner limit leaves the rest of the outer one, but counts in it.
            assert_eq!(bounded(800, primes), Err(Error::Quota { operations: 800 }));
            assert_eq!(bounded(800, primes), Err(Error::Quota { operations: 800 }));
            assert_eq!(
                bounded(800, primes),
                Err(Error::Quota { operations: 2_000 })
            );
            Ok(bounded(800, || Ok(())))
        }),
        Ok(Err(Error::Quota { operations: 2_000 }))
    );
    let nested = bounded(2_000, || {
        let within = || Ok(bounded(800, || Ok(bounded(u64::MAX, primes))));
        assert_eq!(within(), Ok(Ok(Err(Error::Quota { operations: 800 }))));
        assert_eq!(within(), Ok(Ok(Err(Error::Quota { operations: 800 }))));
        within()
    });
    let error = Error::Quota { operations: 2_000 };
    assert_eq!(nested, Ok(Ok(Err(error))));
    let inner = bounded(2_000, || bounded(u64::MAX, primes));
    assert_eq!(inner, Err(Error::Quota { operations: 2_000 }));
    let without = primes();
    assert_eq!(bounded(u64::MAX, primes), without);
    // A panic passes through and removes the limit.
    let caught = std::panic::catch_unwind(|| bounded(2_000, || -> Result<(), Error> { panic!() }));
    assert!(caught.is_err());
    assert_eq!(primes(), without);
}

#[test]
fn threads_have_their_own() {
    let expected = primes().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for round in 0..5 {
                    // Errors and limits of a thread do not affect other threads.
                    match (thread + round) % 3 {
                        0 => assert!(bounded(1_000 + thread, primes).is_err()),
                        1 => assert!(Set::read("{ S[i").is_err()),
                        _ => assert_eq!(primes(), Ok(expected)),
                    }
                }
            });
        }
    });
}
