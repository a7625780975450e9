/*
 * Run by `signed-files.ts`: node verify-attempts.ts VERIFIER ARGUMENT…, the attempts as JSON on standard input. Writes the
 * exit code of each as JSON.
 */
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

const [node = '', , verifier = '', ...args] = process.argv;
const attempts = JSON.parse(fs.readFileSync(0, 'utf8')) as { file: string; base64: string }[];
const { log, error } = console;
console.log = console.error = () => undefined;
const codes: unknown[] = [];
for (const [index, { file, base64 }] of attempts.entries()) {
  const before = fs.readFileSync(file);
  fs.writeFileSync(file, Buffer.from(base64, 'base64'));
  process.argv = [node, verifier, ...args];
  process.exitCode = undefined;
  // Evaluated anew for each: it keeps what it found in its module.
  await import(`${pathToFileURL(verifier).href}?${index}`);
  codes.push(process.exitCode);
  fs.writeFileSync(file, before);
}
Object.assign(console, { log, error });
process.exitCode = 0;
console.log(JSON.stringify(codes));
