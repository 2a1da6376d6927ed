/** Runs named steps in order, says of each how it went, and counts. */
final class Steps {
    /** What a step does; whatever it throws is its failure. */
    @FunctionalInterface
    interface Step {
        void run() throws Exception;
    }

    private int passed;
    private int failed;

    void step(String name, Step step) {
        try {
            step.run();
            passed++;
            System.out.println("  ok    " + name);
        } catch (Exception | AssertionError failure) {
            failed++;
            System.out.println("  FAIL  " + name);
            failure.printStackTrace(System.out);
        }
    }

    void finish() {
        System.out.printf("%d passed, %d failed%n", passed, failed);
        System.exit(failed == 0 ? 0 : 1);
    }

    static void expect(Object wanted, Object got) {
        if (!wanted.equals(got)) throw new AssertionError(got + " and not " + wanted);
    }
}
