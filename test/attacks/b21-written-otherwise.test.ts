import { expect, test } from 'vitest';
import { mask, maskAgain, maskReason } from '../../electron/masking/masking.ts';
import { namesCleartext, readProfile } from '../../electron/service/profile.ts';
import { echoForm, holdsSent, isEcho, memberNames, withoutRepeats } from '../../electron/service/answers.ts';
import { fieldMessages, readExchange } from '../../electron/service/http/failures.ts';

/* A service, or whoever wrote its profile, that says a value in another form than it was sent. */

const card = '4111111111111112'; // With a wrong check digit: no mask knows it by itself.
const inArabic = (text: string): string =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0x0660 + Number(digit)));
const forms: [string, (text: string) => string][] = [
  ['as it is', (text) => text],
  ['in groups', (text) => text.replaceAll(/(.{4})(?=.)/g, '$1 ')],
  ['with dots', (text) => Array.from(text).join('.')],
  ['with dashes of two kinds', (text) => text.replaceAll(/(.{3})(?=.)/g, '$1\u2011-')],
  ['in capitals', (text) => text.toUpperCase()],
  ['in Arabic digits', inArabic],
  [
    'in full width',
    (text) => text.replaceAll(/[!-~]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0)),
  ],
  ['as a page spells it', (text) => text.replaceAll(/[0-9a-e]/g, (one) => `&#${one.charCodeAt(0)};`)],
];
const values = [
  ['card', card],
  ['ssn', '078051121'],
  ['text', 'X7a41L09b'],
  ['text', 'Jane van Roe'],
] as const;

test.each(forms)('a reason that repeats the value %s', (_, write) => {
  for (const [kind, value] of values) {
    const said = maskReason(`Value ${write(value)} is not known, ${write(value)}!`, value, kind);
    expect(said).toBe(`Value ${mask(kind, value)} is not known, ${mask(kind, value)}!`);
  }
});

test('a reason that does not repeat it stays as it is', () => {
  for (const said of ['No such value (code E-12, 3 of 200)', 'ﬁeld 7 is not known', ''])
    expect(maskReason(said, 'Jane', 'text')).toBe(said.normalize('NFKC'));
});

test.each(forms)('a message of a 400 that repeats it %s is dropped', (_, write) => {
  for (const [, value] of values) {
    const body = { errors: { Validation: [`${write(value)} is invalid`, 'tokenName is invalid'] } };
    expect(fieldMessages(body, () => ['other', value])).toEqual([
      { name: 'tokenName', message: 'tokenName is invalid' },
    ]);
  }
});

test.each(['4.1.1.1.1 is bad', '4111/1 is bad', '٤١١١١ is bad', '&#52;&#49;111 is bad'])(
  'a message with five digits is dropped however they are written: %s',
  (message) => {
    expect(fieldMessages({ errors: { Validation: [message] } }, () => [])).toEqual([]);
  },
);

test.each(forms)('an answer that repeats what was sent %s is an echo', (_, write) => {
  for (const [, value] of values) {
    expect(isEcho(value, write(value))).toBe(true);
    expect(isEcho(write(value), value)).toBe(true);
    expect(echoForm(write(value))).toBe(echoForm(value));
  }
});

test.each(forms)('a token that has the value within it, %s, shows it', (_, write) => {
  for (const [, value] of [...values, ['text', 'P12345'], ['email', 'jane.roe@bank.example']] as const) {
    for (const token of [`tok_${write(value)}`, `${write(value)}-7f3a`, `a1${write(value)}b2`])
      expect(holdsSent(value, token), token).toBe(true);
  }
});

test('a token that does not, or has so much of it as may be by chance', () => {
  for (const [value, token] of [
    [card, '4111117340021112'],
    [card, 'tok_411111111111111'],
    ['1234567', 'x1234567x'],
    ['Jane', 'xxJanexx'],
    ['jane.roe@bank.example', 'q7ab22@bank.example'],
    ['!?', 'a!?'],
    ['', 'token1'],
  ] as const)
    expect(holdsSent(value, token), token).toBe(false);
});

test('other values are no echo', () => {
  for (const [one, other] of [
    [card, '4111111111111111'],
    ['Jane', 'Janet'],
    ['a.b', 'a-b'],
    ['!?', '?!'],
    ['tok_4111', '4111'],
  ] as const) {
    expect(isEcho(one, other)).toBe(false);
    expect(echoForm(one)).not.toBe(echoForm(other));
  }
});

test.each<[string, 'card' | 'ssn' | 'text' | null, string, string]>([
  ['A passport', 'text', 'C01X00T47', ''],
  ['A name', 'text', 'Jane Roe', ''],
  ['A card in Arabic digits', 'card', inArabic(card), ''],
  ['A card in dots', 'card', '4111.1111.1111.1112', ''],
  ['An SSN in full width', 'ssn', '０７８０５１１２０', ''],
  ['A known value in another form', null, 'C 01 X 00 T 47', 'c01x00t47'],
])('%s in the place of its mask is masked again', (_, kind, shown, value) => {
  const { masked, again } = maskAgain(shown, kind, value);
  expect(again).toBe(true);
  expect(masked).toMatch(/•{4}/);
  expect(masked.replaceAll(/[^A-Za-z0-9]/g, '').length).toBeLessThan(11);
});

test.each<['card' | 'ssn' | 'text', string]>([
  ['card', '411111******1111'],
  ['ssn', 'XXX-XX-1120'],
  ['text', 'J*** R**'],
  ['text', 'J___ R__'],
])('what hides something stays: %s %s', (kind, shown) => {
  expect(maskAgain(shown, kind, 'Jane Roe')).toEqual({ masked: shown, again: false });
});

const reply = (status: number, json: unknown, id: string) =>
  readExchange(
    {
      ok: true,
      reply: { status, headers: { 'x-requestid': id }, body: Buffer.from(JSON.stringify(json)) },
    } as never,
    { operation: 'Tokenize', policy: null, definition: null, submitted: () => [] },
    { errorCodes: {} } as never,
  );

test.each(['4111111111111111', 'req-4111-1111-1111-1111', 'jane.roe@bank.example', '078-05-1120'])(
  'the ID of a request that is a value is masked where it is read: %s',
  (id) => {
    expect(JSON.stringify([reply(200, {}, id), reply(400, {}, id), reply(500, {}, id)])).not.toContain(id);
  },
);

test('other IDs stay', () => {
  for (const id of ['4f891456-e974-4260-8816-08713bc63218', 'req_7Hq2', '1732442430123456'])
    expect(reply(200, {}, id)).toMatchObject({ requestId: id });
});

test('names of members tell no number, and repeat nothing that was sent', () => {
  expect(memberNames({ _411_111_111_111_111_1: 1, token: 2, line1: 3 })).toEqual([
    '(unreadable)',
    'token',
    'line1',
  ]);
  const failure = { code: 'service.unexpected-answer', members: ['jane_roe', 'token'] } as const;
  expect(withoutRepeats({ ...failure, members: [...failure.members] }, ['Jane Roe'])).toEqual({
    ...failure,
    members: ['token'],
  });
});

test('a member that means cleartext is no token’s place', () => {
  for (const name of [
    ...[
      'value',
      'Value',
      'pan',
      'fullPan',
      'original',
      'originalValue',
      'clear',
      'clear_text',
      'plainText',
      'raw',
    ],
    ...[
      'rawValue',
      'unmasked',
      'un-masked',
      'detokenized',
      'Detokenised',
      'decryptedValue',
      'data.pan',
      'clearCard',
    ],
  ])
    expect(namesCleartext(name), name).toBe(true);
  for (const name of [
    'token',
    'tokenValue',
    'maskedPan',
    'panToken',
    'result',
    'data',
    'draw',
    'company',
    'masked',
  ])
    expect(namesCleartext(name), name).toBe(false);
});

const base = '/api/services/evtservice';
test.each([
  'detokenize.',
  'detokenize..',
  'Detokenize',
  'detokenize/x',
  'detokenize/x/y',
  'detokenize.json',
  'detokenize.json/x',
  'detokenize;x',
  'detokenize%2fx',
  'detokenize%2e',
  'detokenize\\x',
])('a mask is not asked for at %s', (path) => {
  const own = { version: 1, operations: { GetMasked: { path: `${base}/${path}` } } };
  expect(readProfile(JSON.stringify(own))).toMatchObject({
    failure: { code: 'connection.invalid', subject: expect.stringContaining('GetMasked.path') as string },
  });
});

test.each(['detokenized', 'de.tokenize', 'mask/detokenize', 'redetokenize'])(
  'at %s it may be asked for',
  (path) => {
    const own = { version: 1, operations: { GetMasked: { path: `${base}/${path}` } } };
    expect(readProfile(JSON.stringify(own))).toMatchObject({ ok: true });
  },
);

test.each([
  ...[
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-HTTP-Method-Override',
    'X-Method',
    'X-Forwarded-Path',
    'Forwarded',
  ],
  ...[
    'X-Forwarded-Prefix',
    'X-Forwarded-Host',
    'X-Host',
    'X-Original-Method',
    'X-Envoy-Original-Path',
    'X-URI',
  ],
  ...['X-Script-Name', 'X-Operation', 'SOAPAction', 'X-Route'],
])('no profile sends the header %s', (name) => {
  expect(readProfile(JSON.stringify({ version: 1, headers: { [name]: 'x' } }))).toMatchObject({ ok: false });
});

test.each(['/api/services/evtservice/detokenize', 'https://x.example/', 'Detokenize', 'v1; reveal=1'])(
  'nor a header that says %s',
  (value) => {
    expect(readProfile(JSON.stringify({ version: 1, headers: { 'X-Version': value } }))).toMatchObject({
      ok: false,
    });
  },
);

test('a header that says nothing of this is sent', () => {
  const headers = {
    'X-Version': '2',
    'X-Tenant': '{tenantId}',
    Accept: 'application/vnd.x+json',
    'X-Region': 'eu',
  };
  expect(readProfile(JSON.stringify({ version: 1, headers }))).toMatchObject({ ok: true });
});
