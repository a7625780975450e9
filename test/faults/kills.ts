import { runLives } from './lives.ts';

/** `node test/faults/kills.ts 100`: so many processes are killed, and as many find the disk full. */
const lives = Number(process.argv[2] ?? 100);
let wrong = 0;
for (const what of ['kill', 'full'] as const) {
  const report = await runLives(what, lives);
  wrong += report.wrong.length;
  process.stdout.write(`${what}: ${JSON.stringify(report)}\n`);
}
process.exitCode = wrong === 0 ? 0 : 1;
