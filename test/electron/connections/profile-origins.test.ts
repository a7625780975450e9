import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createConnectionProfiles, loadProfile } from '../../../electron/connections/profiles.ts';
import { done, type Outcome } from '../../../electron/contract/errors.ts';
import { parseDeployment } from '../../../electron/settings/parse-deployment.ts';
import { pinsFor, type Pins } from '../../../electron/service/pins.ts';
import type { SettingsDocument } from '../../../electron/settings/settings.ts';
import type { Store } from '../../../electron/settings/store.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/*
 * A profile that gives Tokenize or GetMasked the path of Detokenize asks for cleartext with no reason, count or limit.
 * However it comes into being, it must not.
 */

type Stored = ReturnType<Store<Pick<SettingsDocument, 'profiles'>>['read']>;
const resources = path.resolve('resources');
const connection = { id: 'c1', builtIn: false };
const base = '/api/services/evtservice';
const key = (letter: string) => `${letter.repeat(43)}=`;

function profilesOver({ provided = null, stored = {} }: { provided?: object | null; stored?: Stored }) {
  let profiles = stored;
  return createConnectionProfiles({
    platform: { resources, site: path.join(resources, 'none') },
    provided: provided === null ? null : JSON.stringify({ version: 1, ...provided }),
    store: { read: () => structuredClone(profiles) as never },
    seals: {
      keep: (_, make) => {
        profiles = make().profiles ?? {};
        return Promise.resolve(done(null));
      },
    },
  });
}

const at = (name: string, path: string) => ({ operations: { [name]: { path } } });
const text = (own: object) => JSON.stringify({ version: 1, ...own });
const carried = (content: object | null, fitted: object = {}) => ({
  name: 'own.json',
  content: content === null ? null : { version: 1, ...content },
  fitted: fitted as Record<string, unknown>,
});

/** Every way a profile comes to a connection; answers what is said of it. */
const origins: Record<string, (own: object, provided?: object) => Promise<Outcome<unknown>>> = {
  async 'a file that a person imports'(own, provided) {
    const file = path.join(tempFolder(), 'own.json');
    fs.writeFileSync(file, text(own));
    const profiles = profilesOver({ provided: provided ?? null });
    const chosen = await profiles.readFile(file);
    return chosen.ok ? profiles.import('c1', chosen.value) : chosen;
  },
  'a file of connections': (own, provided) =>
    profilesOver({ provided: provided ?? null }).restore('c1', carried(own)),
  'the settings file, edited on the disk': (own, provided) =>
    profilesOver({
      provided: provided ?? null,
      stored: { c1: { imported: { name: 'x', text: text(own) }, fitted: {} } },
    }).read(connection),
};

/** Where the file itself shows it, whatever is on the workstation. */
const alone: typeof origins = {
  'the administrator’s file': (own) => profilesOver({ provided: own }).read(connection),
  async 'a file beside the program'(own) {
    const site = tempFolder();
    fs.writeFileSync(path.join(site, 'service-profile.json'), text(own));
    return loadProfile({ site, resources });
  },
  'what the administrator rolls out': (own) => {
    const draft = {
      name: 'A',
      environment: 'production',
      baseUrl: 'https://tokens.example',
      extraCa: null,
      proxyUser: '',
      policies: [],
      definitions: [],
      accountId: '',
      tenantId: '',
      apiKeyExpires: null,
      requestsPerSecond: 600,
      transfersPerDay: 1,
      profile: carried(own),
    };
    const file = { format: 'tokendesk-connections', version: 1, connections: [draft], mappings: [] };
    return Promise.resolve(parseDeployment(Buffer.from(JSON.stringify(file))));
  },
  ...origins,
};

const clashes: [string, object, string][] = [
  ['of the shipped one', at('BatchTokenize', `${base}/batchdetokenize`), 'operations.BatchTokenize.path'],
  ['in capitals', at('GetMasked', '/API/services/EvtService/Detokenize'), 'operations.GetMasked.path'],
  ['by a dot', at('GetMasked', `${base}/./detokenize`), 'operations.GetMasked.path'],
  ['by a way up', at('GetMasked', `${base}/x/../detokenize`), 'operations.GetMasked.path'],
  ['by two slashes', at('GetMasked', `${base}//detokenize`), 'operations.GetMasked.path'],
  ['by a slash at the end', at('Translate', `${base}/detokenize/`), 'operations.Translate.path'],
  ['by percent signs', at('GetMasked', `${base}/%64etokenize`), 'operations.GetMasked.path'],
  ['by a query', at('GetMasked', `${base}/detokenize?x`), 'operations.GetMasked.path'],
  [
    'of its own',
    { operations: { GetMasked: { path: '/v2/reveal' }, Detokenize: { path: '/v2/Reveal' } } },
    'operations.GetMasked.path',
  ],
  [
    'told apart by members of the body alone',
    { operations: { Detokenize: { path: `${base}/tokenize`, request: { tokenValue: 'opaque' } } } },
    'operations.Tokenize.path',
  ],
  [
    'told apart by the method alone',
    { operations: { GetMasked: { path: `${base}/detokenize`, method: 'PUT' } } },
    'operations.GetMasked.path',
  ],
  ['for a report', { reporting: { metrics: { path: `${base}/patternmatch` } } }, 'reporting.metrics.path'],
  [
    'for the sign-in of the portal',
    { operations: { PatternMatch: { path: '/api/services/portal/authenticate' } } },
    'reporting.authenticate.path',
  ],
];

describe.each(Object.entries(alone))('%s', (_, bring) => {
  it.each(clashes)('gives no path of an operation that gives cleartext: %s', async (_how, own, place) => {
    expect(await bring(own)).toMatchObject({
      failure: { subject: expect.stringContaining(place) as string },
    });
  });

  it('may move what the specification leaves open', async () => {
    expect(await bring(at('GetMasked', '/v2/redact'))).toMatchObject({ ok: true });
  });
});

describe.each(Object.entries(origins))('%s, where the administrator has a profile', (_, bring) => {
  it('gives no path at which that one has cleartext', async () => {
    const provided = at('BatchDetokenize', '/v2/many/reveal');
    // Its own BatchDetokenize is elsewhere.
    expect(await bring(at('BatchTokenize', '/v2/many/reveal'), provided)).toMatchObject({
      failure: { subject: 'service profile: operations.BatchTokenize.path' },
    });
    expect(await bring(at('BatchTokenize', '/v2/many/protect'), provided)).toMatchObject({ ok: true });
  });
});

describe('what is fitted to a connection', () => {
  const unfit: [string, object, string][] = [
    ['a path', at('BatchTokenize', '/v2/protect'), 'operations.BatchTokenize'],
    ['a method', { operations: { GetMasked: { answer: ['x'], method: 'PUT' } } }, 'operations.GetMasked'],
    ['a pin', { pins: { 'tokens.example': [key('C'), key('D')] } }, 'fitted.'],
    ['a code', { errorCodes: { session: ['x'] } }, 'fitted.'],
    ['members of a request', { element: { request: { ref: 'a', value: 'b' } } }, 'element'],
    ['an operation of another name', { operations: { Shred: { answer: ['x'] } } }, 'operations'],
    ['a list that is not read any more', { bareLists: false }, 'bareLists'],
    [
      'that the answer holds the value where it is a token',
      { operations: { Tokenize: { returns: 'value' } } },
      'Tokenize',
    ],
  ];
  it.each(unfit)('says nothing of %s', async (_, fitted, place) => {
    const refused = {
      failure: { code: 'connection.invalid', subject: expect.stringContaining(place) as string },
    };
    const stored = { c1: { imported: null, fitted: fitted as Record<string, unknown> } };
    expect(await profilesOver({ stored }).read(connection)).toMatchObject(refused);
    expect(await profilesOver({}).restore('c1', carried(null, fitted))).toMatchObject(refused);
    expect(await profilesOver({}).restore('c1', carried({}, fitted))).toMatchObject(refused);
  });

  it('names no cleartext as a token or a mask', async () => {
    const fitted = { operations: { GetMasked: { answer: ['plainText'] } } };
    const stored = { c1: { imported: null, fitted } };
    expect(await profilesOver({ stored }).read(connection)).toMatchObject({
      failure: { subject: 'service profile: operations.GetMasked.answer' },
    });
  });
});

describe('what the administrator pinned', () => {
  const pins = { 'tokens.example': [key('A'), key('B')] };
  const others = { 'tokens.example': [key('C'), key('D')], 'other.example': [key('E'), key('F')] };
  const pinsOf = async (profiles: ReturnType<typeof profilesOver>) => {
    const read = await profiles.read(connection);
    return read.ok ? read.value.pins : read.failure;
  };

  it.each<[string, Stored]>([
    ['nothing else', {}],
    ['a fitting', { c1: { imported: null, fitted: { lists: ['rows'] } } }],
    ['an import', { c1: { imported: { name: 'x', text: text({ pins: others }) }, fitted: {} } }],
    [
      'an import with a fitting',
      { c1: { imported: { name: 'x', text: text({ pins: others }) }, fitted: { lists: ['rows'] } } },
    ],
  ])('stays pinned under %s', async (_, stored) => {
    expect(await pinsOf(profilesOver({ provided: { pins }, stored }))).toMatchObject(pins);
  });

  it('may be added to for other hosts', async () => {
    const stored = { c1: { imported: { name: 'x', text: text({ pins: others }) }, fitted: {} } };
    expect(await pinsOf(profilesOver({ provided: { pins }, stored }))).toEqual({ ...others, ...pins });
  });

  it.each(['TOKENS.example', 'tokens.example.', 'Tokens.Example.'])(
    'is the same host however it is written: %s',
    async (name) => {
      const stored = { c1: { imported: { name: 'x', text: text({ pins: others }) }, fitted: {} } };
      const provided = { pins: { [name]: pins['tokens.example'] } };
      const read = await pinsOf(profilesOver({ provided, stored }));
      expect(read).toMatchObject(pins);
      for (const address of ['https://tokens.example/x', 'https://TOKENS.example.:8443'])
        expect(pinsFor(read as Pins, address)).toEqual(pins['tokens.example']);
      expect(pinsFor(read as Pins, 'https://constructor')).toBe(null);
    },
  );

  it.each([
    ...['tokens.example:443', 'https://tokens.example', ' tokens.example', '*.example', '', 'a..b', 'a/b'],
    ...['tökens.example', '[x]'],
  ])('is refused where it names no host: "%s"', async (name) => {
    expect(
      await pinsOf(profilesOver({ provided: { pins: { [name]: pins['tokens.example'] } } })),
    ).toMatchObject({
      code: 'connection.invalid',
      subject: expect.stringContaining('pins') as string,
    });
  });

  it('is refused where it names one host twice', async () => {
    const provided = { pins: { ...pins, 'TOKENS.EXAMPLE': others['other.example'] } };
    expect(await pinsOf(profilesOver({ provided }))).toMatchObject({ code: 'connection.invalid' });
  });
});
