import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../electron/contract/errors.ts';
import { formatCopiedCells } from '../../src/lib/copied.ts';
import {
  isFailureCode,
  leftPartialsNotice,
  messageFor,
  otherFilesNotice,
  reasonFor,
  sentenceFor,
  settingsNotice,
  upgradeNotice,
} from '../../src/messages/messages.ts';
import { moreEvents } from '../../src/messages/service-events.ts';

describe('messages', () => {
  it.each(failureCodes)('says what happened and what to do for %s', (code) => {
    const bare = messageFor({ code });
    for (const text of [bare.summary, bare.advice]) {
      expect(text).toMatch(/^[A-Z].*[.]$/);
      expect(text).not.toMatch(/undefined|null|oops|error:|!|\s{2}/i);
    }
    expect(sentenceFor({ code })).toContain(bare.summary);
    expect(reasonFor(code)).not.toMatch(/\.$/);
    expect(isFailureCode(code)).toBe(true);
  });

  it.each([
    [
      ['a.csv', 'b.xlsx'],
      /^Tokendesk ended while it wrote a\.csv, b\.xlsx, .*Look for a\.csv\.partial, b\.xlsx\.partial and/,
    ],
    [
      [''],
      /^Tokendesk ended while it wrote exports, and the list .*Look for files that end in \.partial and/,
    ],
  ])('says what an export of %s may have left, and where to look', (names, said) => {
    expect(leftPartialsNotice(names)).toMatch(said);
  });

  it('names the policy, the operation and the definition of a refusal', () => {
    const { summary } = messageFor({
      code: 'service.refused',
      policy: 'dispute-desk',
      operation: 'Detokenize',
      definition: 'card-number',
    });
    expect(summary).toBe('The service refused this: policy dispute-desk may not detokenize card-number.');
    const refused = { code: 'service.refused', operation: 'Detokenize', definition: 'card-number' } as const;
    expect(sentenceFor(refused, () => 'Card number')).toBe(
      'The service refused this: this policy may not detokenize Card number. ' +
        'Choose another policy or ask the administrator to grant it.',
    );
  });

  it.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /asks for a client certificate/],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', /asks for a client certificate/],
    ['CERT_HAS_EXPIRED', /has expired/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /for another address/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /is not trusted here/],
  ])('says in words what %s means', (subject, words) => {
    const sentence = sentenceFor({ code: 'service.tls', subject });
    expect(sentence).toMatch(words);
    expect(sentence).not.toMatch(/_/);
  });

  it.each([
    ['refused', 'acme:9443 refused the connection. The computer answers, the service does not.'],
    ['unknown-name', 'This network knows no acme:9443. Check the address, the network or the VPN'],
    [undefined, 'No connection to acme:9443. Check the network or VPN, then try again.'],
  ] as const)('W20 tells why there is no connection: %s', (cause, sentence) => {
    const failure = { code: 'service.unreachable', subject: 'acme:9443' } as const;
    const { summary, advice } = messageFor({ ...failure, ...(cause !== undefined && { cause }) });
    expect(`${summary} ${advice}`).toContain(sentence);
    expect(messageFor({ code: 'service.timeout', subject: 'acme:9443' }).summary).toBe(
      'acme:9443 did not answer in time.',
    );
  });

  it('W8 says what was copied of a table: a cell, rows, or the first of very many', () => {
    const copied = { clearAfterMs: 30_000 };
    expect(formatCopiedCells(1, 1, copied)).toBe(
      'Copied 1 cell, as shown. The clipboard is cleared after 30 s.',
    );
    expect(formatCopiedCells(1, 2, copied)).toMatch(/^Copied 1 row, as shown/);
    expect(formatCopiedCells(3, 1, copied)).toMatch(/^Copied 3 rows, as shown/);
    expect(formatCopiedCells(10_001, 1, copied)).toMatch(
      /^Copied 10,000 rows, .* Only the first 10,000: export for more\.$/,
    );
  });

  it('leads a file of the app’s own that is no table to where it belongs', () => {
    const advice = (subject: string) => messageFor({ code: 'file.not-a-table', subject }).advice;
    expect(advice('list of connections')).toMatch(/^Import it under Settings/);
    expect(advice('service profile')).toMatch(/^Import it under Connections/);
    expect(advice('PDF')).toMatch(/^Save its rows as CSV/);
  });

  it('says of several files that one was opened, and of an upgrade which version it is', () => {
    expect([0, 1, 2].map(otherFilesNotice)).toEqual([
      '',
      'The system hands over one file at a time. The other one was not opened: drop them on the window together, and those of one kind run together.',
      'The system hands over one file at a time. The other 2 were not opened: drop them on the window together, and those of one kind run together.',
    ]);
    expect(upgradeNotice('0.0.9', '0.1.0')).toBe('Tokendesk is version 0.1.0 now. It was 0.0.9.');
  });

  it('says of events how many stand behind the newest', () => {
    expect([0, 1, 19].map(moreEvents)).toEqual(['', 'One more came before.', '19 more came before.']);
  });

  it('tells a wrong address, a wrong key and a session that is not taken apart', () => {
    const summary = (code: 'service.not-found' | 'service.credentials', operation: string): string =>
      messageFor({ code, operation, policy: 'p' }).summary;
    expect(summary('service.not-found', 'CreateSession')).toMatch(/^Nothing lives at the address/);
    expect(summary('service.credentials', 'CreateSession')).toMatch(/could not sign in/);
    expect(summary('service.credentials', 'GetMasked')).toMatch(/doesn’t accept the session/);
  });

  it('says of a token that the service refuses what a person can change', () => {
    const fields = [{ name: 'tokenValue', message: 'tokenValue is invalid' }];
    const failure = { code: 'service.invalid-input', definition: 'email', fields } as const;
    expect(sentenceFor({ ...failure, fields: [...fields] }, () => 'E-mail address')).toBe(
      'The service doesn’t recognise this as an E-mail address token. ' +
        'Check the token or choose another definition.',
    );
  });

  it('7.8 quotes the service on an invalid field, and its codes where no sentence stands for them', () => {
    const failure = {
      code: 'service.invalid-input',
      fields: [{ name: 'value', message: 'value is invalid' }],
    } as const;
    const quoted = { ...failure, fields: [...failure.fields] };
    expect(messageFor(quoted).summary).toBe('The service did not accept this: value is invalid.');
    expect(messageFor({ ...quoted, codes: ['ValueRetired'] }).summary).toBe(
      'The service did not accept this: value is invalid (ValueRetired).',
    );
    expect(messageFor({ code: 'service.invalid-input', codes: ['ValueRetired'] }).summary).toBe(
      'The service did not accept the value (ValueRetired).',
    );
  });

  it('says of a proxy that asks for a sign-in where it is entered, and of another what it answered', () => {
    const asked = messageFor({ code: 'service.proxy', subject: '407' });
    expect(asked.summary).toBe('The proxy asks for a sign-in, so nothing was sent.');
    expect(asked.advice).toMatch(/^Enter its user name and password at the connection\..*NTLM or Kerberos/);
    const refused = messageFor({ code: 'service.proxy', subject: '403' });
    expect(refused.summary).toBe('The proxy did not let the request through (403).');
  });

  it('tells how long a limit lasts', () => {
    expect(messageFor({ code: 'service.busy', retryAfterMs: 2_100 }).advice).toBe('Try again in 3 s.');
    expect(messageFor({ code: 'service.quota', retryAfterMs: 600_000 }).advice).toBe('Try again in 10 min.');
  });

  it.each([
    ['unreadable', /^The settings could not be read and were reset\. .* saved as desk\.x\.json\.$/],
    ['unfit', /^Some settings could not be read and were reset\. .* saved as desk\.x\.json\.$/],
    ['uncopied', /^Some settings could not be read\. No copy .* stays as it is, and no change is saved/],
    [
      'newer',
      /^The settings were saved by a newer version .* left as they are\. .* its own in desk\.x\.json,/,
    ],
    ['lost', /^The keychain does not have the key .*The secrets are gone, .*save it, and enter its secrets/],
    ['other', /^Settings of another version .* not in use\. They are saved as desk\.x\.json\.$/],
  ] as const)(
    'says what became of the settings (%s), and names the file where there is one',
    (reason, notice) => {
      expect(settingsNotice({ reason, keptAs: 'desk.x.json' })).toMatch(notice);
    },
  );

  it('rejects a code of another version', () => {
    expect(isFailureCode('service.made-up')).toBe(false);
    expect(isFailureCode('toString')).toBe(false);
  });
});
