import fs from 'node:fs';
import path from 'node:path';
import { SaxesParser } from 'saxes';
import { expect, test } from 'vitest';
import { managedSettings } from '../../electron/contract/models/app.ts';
import { parseRegistry } from '../../electron/settings/registry.ts';
import { policyTemplates, templateFolder } from '../../scripts/policy-templates.ts';

const names = Object.keys(managedSettings.shape).sort();
const read = (name: string): string => fs.readFileSync(path.join(templateFolder, name), 'utf8');

/** The values of one attribute of one element, or with `text` the text in it. Throws where it is no XML. */
function values(xml: string, element: string, attribute: string): string[] {
  const found: string[] = [];
  let inside = false;
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    inside = tag.name === element;
    const value = tag.attributes[attribute];
    if (inside && value !== undefined) found.push(value);
  });
  parser.on('text', (text) => {
    if (inside && attribute === 'text') found.push(text);
    inside = false;
  });
  parser.write(xml).close();
  return found;
}

test('the templates that are committed are those of the schema', () => {
  for (const [name, text] of Object.entries(policyTemplates()))
    expect([name, read(name)]).toEqual([name, text]);
});

test('each template has every setting, and no other', () => {
  const schema = JSON.parse(read('policy.schema.json')) as {
    properties: object;
    additionalProperties: boolean;
  };
  expect(Object.keys(schema.properties).sort()).toEqual(['$schema', ...names]);
  expect(schema.additionalProperties).toBe(false);
  expect(values(read('Tokendesk.admx'), 'policy', 'name').sort()).toEqual(names);
  expect(values(read('app.tokendesk.plist'), 'key', 'text').sort()).toEqual(names);
});

test('the example is accepted', () => {
  const example = JSON.parse(read('policy.example.json')) as object;
  expect(Object.keys(example).sort()).toEqual(names);
  expect(managedSettings.safeParse(example).success).toBe(true);
});

test('every word that the ADMX refers to is in the ADML', () => {
  const admx = read('Tokendesk.admx');
  const adml = read('en-US/Tokendesk.adml');
  const referred = (kind: string): string[] => [
    ...new Set([...admx.matchAll(new RegExp(`\\$\\(${kind}\\.(\\w+)\\)`, 'g'))].map(([, id]) => id ?? '')),
  ];
  expect(referred('string').sort()).toEqual(values(adml, 'string', 'id').sort());
  expect(referred('presentation').sort()).toEqual(values(adml, 'presentation', 'id').sort());
});

test('what group policy writes for each kind of value is read as that kind', () => {
  const admx = read('Tokendesk.admx');
  const head =
    'Windows Registry Editor Version 5.00\r\n[HKEY_LOCAL_MACHINE\\Software\\Policies\\Tokendesk]\r\n';
  /** A list of one text. */
  const list = (text: string): string =>
    `hex(7):${[...Buffer.from(`${text}\0\0`, 'utf16le')].map((byte) => byte.toString(16).padStart(2, '0')).join()}`;
  const entries: Readonly<Record<string, string>> = {
    connectionsSigners: 'a'.repeat(64),
    approvers: `${'a'.repeat(64)} Dana Reyes`,
    secondPerson: 'export from 100 in production',
  };
  const written = [
    ...values(admx, 'decimal', 'valueName').map((name) => `"${name}"=dword:0000000a`),
    ...values(admx, 'multiText', 'valueName').map((name) => `"${name}"=${list(entries[name] ?? 'a')}`),
    ...values(admx, 'text', 'valueName').map((name) => `"${name}"="127.0.0.1"`),
    ...values(admx, 'enum', 'valueName').map((name) => `"${name}"="forbidden"`),
    ...values(admx, 'policy', 'valueName').map((name) => `"${name}"=dword:00000001`),
  ];
  expect(written).toHaveLength(names.length);
  expect(managedSettings.safeParse(parseRegistry(head + written.join('\r\n'))).error).toBeUndefined();
});
