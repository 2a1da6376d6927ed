// Runs named steps in order, says of each how it went, and counts.

let passed = 0;
let failed = 0;

export async function step(name, run) {
  try {
    await run();
    passed += 1;
    console.log(`  ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`  FAIL  ${name}\n        ${error.code ?? error.name}: ${error.message}`);
    if (error.cause) console.log("       ", error.cause);
  }
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
