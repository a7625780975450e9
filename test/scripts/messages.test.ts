import fs from 'node:fs';
import { expect, it } from 'vitest';
import { failureCodes } from '../../electron/contract/errors.ts';
import { messageDocument } from '../../scripts/schemas.ts';

/** A formatter sets tables anew. */
const loose = (text: string): string => text.replaceAll(/[\s-]+/g, '');

it('the table for support has each code with what a person reads', () => {
  const found = fs.readFileSync('docs/messages.md', 'utf8');
  expect(loose(found), 'npm run schemas').toBe(loose(messageDocument(found)));
  for (const code of failureCodes) expect(found).toContain(`| \`${code}\``);
});
