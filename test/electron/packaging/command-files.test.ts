import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { commands, documentedSwitches } from '../../../electron/platform/command-line.ts';
import { bashCompletion, manPage } from '../../../scripts/packaging/command-files.ts';

const names = Object.keys(commands);

test('the manual has every command with its usage, and every switch', () => {
  const text = manPage().replaceAll('\\-', '-').replaceAll('\\[u2026]', '…').replaceAll('\\[u2019]', '’');
  for (const { usage } of Object.values(commands)) expect(text).toContain(usage);
  for (const { name, text: line = '' } of documentedSwitches) {
    expect(text).toContain(`--${name}`);
    expect(text).toContain(line);
  }
});

test('the manual is read without a warning', () => {
  const { status, stderr, stdout, error } = spawnSync('groff', ['-man', '-ww', '-Tutf8'], {
    input: manPage(),
    encoding: 'utf8',
  });
  if (error !== undefined) return;
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('--passphrase-stdin');
});

/** What bash offers for the last word. */
function offered(...words: string[]): string[] {
  const script = `${bashCompletion()}
COMP_WORDS=(tokendesk "$@")
COMP_CWORD=$#
_tokendesk
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

test('bash completes commands, their switches and no other’s, and files', () => {
  expect(offered('')).toEqual(expect.arrayContaining(names.filter((name) => !name.startsWith('-'))));
  expect(offered('--at')).toEqual(['--attest']);
  expect(offered('--attest', '--')).toEqual(['--out=', '--passphrase-stdin']);
  expect(offered('lo')).toEqual(['lookup']);
  expect(offered('--ver')).toEqual(['--version', '--verify-audit', '--verify-evidence']);
  expect(offered('run', '--')).toEqual(expect.arrayContaining(['--out=', '--yes', '--passphrase-stdin']));
  expect(offered('jobs', '--')).toEqual(['--json', '--passphrase-stdin']);
  expect(offered('run', 'Cards', 'command-f')).toEqual(['command-files.test.ts']);
});
