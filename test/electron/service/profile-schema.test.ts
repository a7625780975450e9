import fs from 'node:fs';
import { expect, test } from 'vitest';
import { profileDocuments } from '../../../scripts/schemas.ts';
import shipped from '../../../resources/service-profile.json' with { type: 'json' };
import { differencesOf, profileFile } from '../../../electron/service/profile-difference.ts';
import { fieldText, fieldValue, profileFields } from '../../../electron/service/profile-schema.ts';
import { readProfile } from '../../../electron/service/profile.ts';
import otherProfile from '../../support/other-service-profile.json' with { type: 'json' };

/** A formatter sets tables and lists anew. */
const loose = (text: string): string => text.replaceAll(/[\s-]+/g, '');

test('the JSON Schema and the table of the documentation are made of the schema of the app', () => {
  const docs = fs.readFileSync('docs/service-profile.md', 'utf8');
  for (const [file, text] of Object.entries(profileDocuments(docs)))
    expect(loose(fs.readFileSync(file, 'utf8')), `npm run schemas: ${file}`).toBe(loose(text));
});

test('every member has a line of documentation', () => {
  const fields = profileFields();
  expect(fields.length).toBeGreaterThan(100);
  expect(fields.filter(({ description }) => description === '')).toEqual([]);
});

test('every field of the form goes into a text and back', () => {
  const profile = readProfile(JSON.stringify(shipped));
  if (!profile.ok) throw new Error(profile.failure.subject);
  for (const field of profileFields()) {
    const value = field.path.reduce<unknown>(
      (inner, name) => (inner as Record<string, unknown>)[name],
      profile.value,
    );
    expect(value, field.path.join('.')).not.toBeUndefined();
    expect(fieldValue(field, fieldText(field, value)), field.path.join('.')).toEqual(value);
  }
});

test.each([
  ['the shipped profile', shipped],
  ['another', otherProfile],
])('%s is the same when it is written as a file and read again', (_, content) => {
  const read = (json: object) => {
    const profile = readProfile(JSON.stringify(json));
    if (!profile.ok) throw new Error(profile.failure.subject);
    return profile.value;
  };
  const profile = read(content);
  const again = read(profileFile(profile));
  expect(differencesOf(profile, again)).toEqual([]);
});
