// A target needs a source file; what it offers is in libFuzzer.
