package generate

// Wire writes the steps of one answer as an interface streams them. It belongs to one goroutine. The errors are those of
// writing.
type Wire interface {
	// Step writes what a step says.
	Step(Step) error
	// End ends the answer, whose tokens are counted by then.
	End(Usage) error
}
