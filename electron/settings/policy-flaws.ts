import path from 'node:path';
import { z } from 'zod';
import { managedSettings, type ManagedName, type ManagedSettings } from '../contract/models/app.ts';

/* What is wrong with an administrator's settings, in words. Made from the schema they are checked with. */

interface Member {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly description?: string;
  readonly items?: Member;
}

/** Not made at a start: it takes a while, and hardly any needs it. */
const members = (): Record<ManagedName, Member> =>
  (z.toJSONSchema(managedSettings) as { properties: Record<ManagedName, Member> }).properties;

export const policyMembers = (): readonly { readonly name: ManagedName; readonly description: string }[] =>
  Object.entries(members()).map(([name, member]) => ({
    name: name as ManagedName,
    description: member.description ?? '',
  }));

/** A sentence for each flaw, by the member's name. Never empty. Quotes no value: a policy may hold anything by mistake. */
export function policyFlaws(error: z.ZodError): string[] {
  const properties = members();
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `there is no setting ${key}`);
    const [name, entry] = issue.path;
    if (name === undefined) return ['it is not an object'];
    const member = Object.hasOwn(properties, name) ? properties[name as ManagedName] : {};
    const place = typeof entry === 'number' ? `${String(name)}, entry ${entry + 1}` : String(name);
    const allowed = typeof entry === 'number' ? (member.items ?? {}) : member;
    return [`${place} must be ${allowedWords(allowed, patternWords[String(name)])}`];
  });
}

/** What is wrong with settings that are each allowed by themselves. */
export function flawsTogether(
  { connectionsFile, connectionsSigners }: ManagedSettings,
  os: NodeJS.Platform,
): string[] {
  if (connectionsFile === undefined)
    return connectionsSigners === undefined ? [] : ['connectionsSigners needs connectionsFile'];
  const paths = os === 'win32' ? path.win32 : path.posix;
  return [
    ...(connectionsSigners === undefined
      ? [
          'connectionsFile needs connectionsSigners: without it anybody who can write there could change connections',
        ]
      : []),
    ...(paths.isAbsolute(connectionsFile) ? [] : ['connectionsFile must be a whole path, from the root on']),
  ];
}

/** For those that have a pattern. */
const patternWords: Readonly<Record<string, string>> = {
  allowedHosts:
    'a host in small letters without scheme, port and path, such as tokens.example.com or *.example.com',
  secondPerson:
    'reveal, copy, export, match, guess or move, then if wanted "from" and a number, then if wanted "in" and development, test or production, such as export from 100 in production',
  approvers:
    'a fingerprint of 64 hexadecimal digits in small letters, a space, and a name of 2 to 60 characters',
  connectionsSigners: 'a fingerprint of 64 hexadecimal digits in small letters',
};

function allowedWords(member: Member, ofPattern = ''): string {
  if (member.enum !== undefined) return member.enum.map((one) => `"${one}"`).join(' or ');
  switch (member.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number from ${member.minimum ?? 0} to ${member.maximum ?? 0}`;
    case 'array':
      return `a list of ${member.minItems ?? 0} to ${member.maxItems ?? 0} texts`;
    default:
      return member.pattern === undefined
        ? `a text of ${member.minLength ?? 1} to ${member.maxLength ?? 0} characters`
        : ofPattern;
  }
}
