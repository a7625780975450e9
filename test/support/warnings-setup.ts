/*
 * A warning of Node is a fault that does not show yet: a handle left to the garbage collector, listeners that are never
 * removed, an API that will go. Here it fails the run.
 */

/** Those that a test brings about on purpose: how they begin. */
const expected = [
  // A test shows that it makes no difference.
  "Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable to '0'",
];

function failRun(warning: Error): void {
  if (!expected.some((text) => warning.message.startsWith(text))) throw warning;
}

// A worker that several files share loads this before each of them.
if (!process.listeners('warning').some(({ name }) => name === failRun.name)) process.on('warning', failRun);
