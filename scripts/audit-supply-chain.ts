import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/*
 * What only a connected machine can tell of the dependencies: known vulnerabilities, and whether the registry signed
 * what is installed. Run before a release: `node scripts/audit-supply-chain.ts`. Ends in error when either finds
 * something, and when the registry can't be asked: no answer is not a clean one.
 */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const questions = [
  { asks: 'Known vulnerabilities, high or worse', args: ['audit', '--audit-level=high'] },
  { asks: 'Known vulnerabilities in what is shipped', args: ['audit', '--omit=dev', '--audit-level=low'] },
  { asks: 'Signatures and provenance of what is installed', args: ['audit', 'signatures'] },
] as const;

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
let failed = 0;
for (const { asks, args } of questions) {
  console.log(`\n${asks}: npm ${args.join(' ')}`);
  const { status } = spawnSync(npm, args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) failed += 1;
}
console.log(failed === 0 ? '\nNothing was found.' : `\n${failed} of ${questions.length} did not pass.`);
process.exitCode = failed === 0 ? 0 : 1;
