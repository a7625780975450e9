import fs from 'node:fs';
import path from 'node:path';

/** A command line as a document has it. */
export interface DocumentedCommand {
  /** The file and the line. */
  readonly where: string;
  /** `tokendesk`, `npm`, `npx` or `node`. */
  readonly program: string;
  readonly args: readonly string[];
  /** A line of syntax, with `[…]`: nobody gives it as it stands. */
  readonly isUsage: boolean;
}

const programs = /^(?:\S*\/)?(tokendesk|Tokendesk|Tokendesk\.exe|npm|npx|node)$/;

const documents = (): string[] =>
  [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...fs.readdirSync('docs').map((name) => `docs/${name}`),
  ].filter((name) => name.endsWith('.md'));

/** What the documents say is to be typed: lines of blocks, and code inside of a sentence that begins with one of our programs. */
export function documentedCommands(): DocumentedCommand[] {
  return documents().flatMap((file) => {
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    let isFenced = false;
    return lines.flatMap((line, at) => {
      const where = `${path.basename(file)}:${at + 1}`;
      if (/^\s*```/.test(line)) isFenced = !isFenced;
      const isCode = isFenced || line.startsWith('    ');
      // What goes on in the next line is one command.
      const whole = isCode ? joined(lines, at) : line;
      const texts = isCode ? [whole.trim()] : [...line.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
      return texts.flatMap((text) => readCommand(text, where) ?? []);
    });
  });
}

/** With the lines that follow a `\`, or that are set in further, as a usage that is too long for one. */
function joined(lines: readonly string[], at: number): string {
  const [first = '', next = ''] = [lines[at], lines[at + 1]];
  if (first.trimEnd().endsWith('\\'))
    return `${first.trimEnd().slice(0, -1)} ${joined(lines, at + 1).trim()}`;
  return /^ {8,}\[/.test(next) ? `${first} ${next.trim()}` : first;
}

function readCommand(text: string, where: string): DocumentedCommand | null {
  // The last program of a pipe is ours: what stands before it writes what it reads.
  const [plain = ''] = text.replace(/^.*\|\s*(?=tokendesk)/, '').split(/\s+#\s/);
  const words = wordsOf(plain.replace(/^ExecStart=/, '').replace(/^(?:[\d*]+ ){5}/, ''));
  while (words[0] === 'sudo' || /^[A-Z_]+=/.test(words[0] ?? '')) words.shift();
  const [, program] = programs.exec(words[0] ?? '') ?? [];
  // A name alone is no command, and an address or a path is none.
  if (program === undefined || words.length === 1) return null;
  const end = words.findIndex((word) => /^\d?(?:<|>>?)$/.test(word));
  const args = words.slice(1, end < 0 ? undefined : end);
  const isUsage = /[[\]…]/.test(plain) || /\b[A-Z]{4,}\b/.test(plain.replaceAll(/"[^"]*"/g, ''));
  return { where, program: program.toLowerCase().replace(/\.exe$/, ''), args, isUsage };
}

/** As a shell takes it apart. */
export const wordsOf = (text: string): string[] =>
  [...text.matchAll(/((?:"[^"]*"|'[^']*'|[^\s"'])+)/g)].map(([, word = '']) => word.replaceAll(/["']/g, ''));
