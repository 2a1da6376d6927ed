package main

import (
	"fmt"
	"os"
)

// steps runs named steps in order, says of each how it went, and counts.
type steps struct {
	passed, failed int
}

func (s *steps) step(name string, run func() error) {
	if err := run(); err != nil {
		s.failed++
		fmt.Printf("  FAIL  %s\n        %v\n", name, err)
		return
	}
	s.passed++
	fmt.Printf("  ok    %s\n", name)
}

func (s *steps) finish() {
	fmt.Printf("%d passed, %d failed\n", s.passed, s.failed)
	if s.failed > 0 {
		os.Exit(1)
	}
}

// expect is an error unless what was got is what was wanted.
func expect[T comparable](what string, got, wanted T) error {
	if got != wanted {
		return fmt.Errorf("%s is %v and not %v", what, got, wanted)
	}
	return nil
}
