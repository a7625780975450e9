import { describe, expect, it } from 'vitest';
import { restoreText } from '../../../electron/contract/obscured.ts';
import { LookupField, shapeOf, unlikelyToken } from '../../../src/features/lookup/lookup-field.svelte.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

const pan = '4111 1111 1111 1111';

async function open(cases: string[] = []) {
  const { app } = await openApp();
  const find = (text: string) => cases.find((known) => known.toLowerCase() === text.toLowerCase()) ?? null;
  return { app, field: new LookupField(app, find) };
}

describe('the shape of a token', () => {
  it.each([
    ['4111 1173-0921 1111', 'card'],
    ['917-22-4410', 'ssn'],
    ['917224410', 'ssn'],
    ['qwz1n@example.org', 'email'],
    ['tok_9aGhq2LsX0', 'text'],
    ['4111', null],
    ['qwz1n@', null],
    ['', null],
  ] as const)('%s is %s', (text, shape) => {
    expect(shapeOf(text)).toBe(shape);
  });

  it('chooses the definition, and says so', async () => {
    const { field } = await open();
    field.set('qwz1n@example.org');
    expect([field.definition.name, field.isDetected]).toEqual(['email', true]);
    field.set('4111117309211111');
    expect([field.definition.name, field.isDetected]).toEqual(['card-number', true]);
    field.set('4111');
    expect([field.definition.name, field.isDetected]).toEqual(['card-number', false]);
  });

  it('W4 detects no definition that the policy in use may not mask', async () => {
    const refused = (definition: string) => ({
      ...{ definition, known: true, allowed: [] },
      refused: ['GetMasked' as const],
    });
    const under = async (...names: string[]) => {
      const grants = [{ policy: 'dispute-desk', testedAt: data.at(0), definitions: names.map(refused) }];
      const connection = { ...data.production, grants };
      const active = { connectionId: connection.id, policy: 'dispute-desk' };
      const { app } = await openApp({ state: data.appState({ connections: [connection], active }) });
      const field = new LookupField(app, () => null);
      return (text: string) => {
        field.set(text);
        return [field.definition.name, field.isDetected];
      };
    };
    const told = await under('email', 'free-text');
    expect(told('qwz1n@example.org')).toEqual(['card-number', false]);
    expect(told('tok_9aGhq2LsX0')).toEqual(['card-number', false]);
    expect(told('4111117309211111')).toEqual(['card-number', true]);
    // The one that is chosen stays, and is not said to be told by the text.
    expect((await under('card-number'))('4111117309211111')).toEqual(['card-number', false]);
  });

  it('leaves the choice to the person, and follows what was found', async () => {
    const { field } = await open();
    field.set('917-22-4410');
    field.choose('free-text');
    expect([field.definition.name, field.isDetected]).toEqual(['free-text', false]);
    // Another text is told by its shape again, until one like it was found elsewhere.
    field.set('917-22-4411');
    expect(field.definition.name).toBe('ssn');
    field.choose('free-text');
    field.found('free-text');
    field.set('917-22-4412');
    expect(field.definition.name).toBe('free-text');
  });
});

describe('a card number in the field', () => {
  it('is no text anywhere, and is taken without what stands around it', async () => {
    const { field } = await open();
    field.paste(`PAN: ${pan}, 12/27`);
    expect(field.hasCard).toBe(true);
    expect([field.text, field.tidy(), field.caseReference, field.flaw]).toEqual(['', '', null, null]);
    expect(restoreText(field.takeValue())).toBe('4111111111111111');
    expect(field.typed.length).toBe(0);
  });

  it('is dots in the input, from the digit that makes it a card number on', async () => {
    const { field } = await open();
    const input = Object.assign(new EventTarget(), { value: '', setSelectionRange: () => undefined });
    field.typed.attach(input as unknown as HTMLInputElement);
    for (const [index, digit] of Array.from('378282246310005').entries())
      field.typed.replace(digit, index, index);
    expect(input.value).toBe('•'.repeat(15));
    field.typed.replace('', 14, 15);
    expect(input.value).toBe('37828224631000');
  });

  it('can be a token after all, if a person says so', async () => {
    const { field } = await open();
    field.set(pan);
    expect(field.takeAsToken()).toBe('4111111111111111');
  });

  it('is shown where the service knows it as a token, until it is changed', async () => {
    const { field } = await open();
    field.show('4111111111111111', 'card-number');
    expect([field.hasCard, field.text]).toEqual([false, '4111111111111111']);
    field.set('5555555555554444');
    expect([field.hasCard, field.text]).toEqual([true, '']);
    field.clear();
    field.set('4111111111111111');
    expect(field.hasCard).toBe(true);
    // What the token begins with is another text.
    field.show('42222222222227', 'card-number');
    field.set('4222222222222');
    expect(field.hasCard).toBe(true);
  });
});

describe('what can hardly be a token', () => {
  it.each([
    [
      '41111173092111114111117309211111',
      'card',
      'Cards tokens usually have 12 to 19 digits. This one has 32 digits.',
    ],
    ['4111-x', 'card', 'Cards tokens usually have digits only. This one has other characters.'],
    ['4111 1173 0921 1111', 'card', null],
    ['917-22-44', 'ssn', 'Cards tokens usually have 9 digits. This one has 7 digits.'],
    ['917-22-4410', 'ssn', null],
    ['ada', 'email', 'Cards tokens usually look like name@example.com. This one doesn’t.'],
    ['ada@example.org', 'email', null],
    ['anything at all', 'text', null],
  ] as const)('%s as a token of %s', (text, kind, sentence) => {
    expect(unlikelyToken(text, kind, 'Cards')).toBe(sentence);
  });

  it('is asked about once: a service may have tokens of its own look', async () => {
    const { app, field } = await open();
    expect(app.definitions[0]?.name).toBe('card-number');
    field.set('41111173');
    expect(field.flaw?.isCertain).toBe(false);
    field.found('card-number');
    field.set('41111174');
    expect(field.flaw).toBeNull();
  });

  it('asks about a sentence each time, and says what stands in it', async () => {
    const { field } = await open();
    field.set('Ticket 4711: please check token 4111 1173 0921 1111 for D-30001, thanks');
    expect(field.mentioned).toEqual({ token: '4111 1173 0921 1111', caseReference: 'D-30001' });
    expect(field.flaw?.isCertain).toBe(false);
    field.found('free-text');
    field.set('please check D-30002');
    expect(field.mentioned).toEqual({ token: null, caseReference: 'D-30002' });
    expect(field.flaw).not.toBeNull();
    field.set(`https://example.org/${'x'.repeat(60)}`);
    expect([field.mentioned, field.flaw?.sentence]).toEqual([null, 'This doesn’t look like a token.']);
    field.set('4111 1173 0921 1111');
    expect([field.mentioned, field.flaw]).toEqual([null, null]);
  });

  it.each(['4111 11•• •••• 1111', '411111******1111', '4.11E+15'])('is certain of %s', async (text) => {
    const { field } = await open();
    field.set(text);
    expect(field.flaw?.isCertain).toBe(true);
  });
});

it('knows a case by its form, or because it is known', async () => {
  const { field } = await open(['2026 Complaint']);
  field.set(' D-20931 ');
  expect(field.caseReference).toBe('D-20931');
  field.set('2026 complaint');
  expect(field.caseReference).toBe('2026 Complaint');
  for (const token of ['4111117309211111', '917-22-4410', 'tok_9aGhq2LsX0', '', 'refund']) {
    field.set(token);
    expect(field.caseReference).toBeNull();
  }
});
