import { expect, it } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { UnreadAnswer } from '../../../electron/contract/models/connection.ts';
import { ConnectionProfileController } from '../../../src/features/connections/profile.svelte.ts';
import type { FakeOptions } from '../support/fake-bridge.ts';
import { openApp } from '../support/open-app.ts';

const unread: UnreadAnswer[] = [
  { operation: 'CreateSession', members: [{ path: ['result', 'ticket'], kind: 'text' }] },
];
const fitting = {
  id: 'acme-eu',
  operation: 'CreateSession',
  answer: ['result', 'ticket'],
  ref: null,
} as const;

async function open(options: FakeOptions = {}) {
  const { fake, app, api } = await openApp(options);
  const controller = new ConnectionProfileController(app, api);
  await controller.show('acme-eu');
  const profileOf = () => app.state?.connections.find(({ id }) => id === 'acme-eu')?.profile;
  return { fake, controller, profileOf };
}

it('a profile is imported into the connection and removed from it', async () => {
  const { controller, profileOf } = await open();
  await controller.import('acme-eu');
  expect(profileOf()).toEqual({ name: 'other.json', fitted: [] });
  await controller.remove('acme-eu', 'imported');
  expect(profileOf()).toEqual({ name: null, fitted: [] });
});

it('one that is refused says why', async () => {
  const refused = { code: 'connection.invalid', subject: 'service profile: lists' } as const;
  const { controller } = await open({ fail: { 'connections.importProfile': refused } });
  await controller.import('acme-eu');
  expect(controller.failure).toEqual(refused);
});

it('4.17 an answer that could not be read is fitted, and the sign-in that tests it is told', async () => {
  const { fake, controller, profileOf } = await open({
    answers: { 'connections.unreadAnswers': () => done(unread) },
  });
  expect(controller.unread).toEqual(unread);
  await controller.fit({ ...fitting, answer: [...fitting.answer] });
  expect(fake.seen.find(({ name }) => name === 'connections.fitProfile')?.input).toEqual(fitting);
  expect(profileOf()?.fitted).toEqual(['CreateSession']);
  expect(controller.notice).toBe('CreateSession is fitted, and the sign-in works.');
});

it('a test that fails is no success', async () => {
  const { controller } = await open({
    answers: {
      'connections.fitProfile': () =>
        done({ profile: { name: null, fitted: ['GetMasked'] }, test: failed('service.credentials').failure }),
    },
  });
  await controller.fit({ ...fitting, answer: [...fitting.answer] });
  expect(controller.failure?.code).toBe('service.credentials');
  expect(controller.notice).toMatch(/the sign-in that tests it failed/);
});

it('what an action says stays when an action of before is answered later', async () => {
  const declined = Promise.withResolvers<ReturnType<typeof done<null>>>();
  const { controller } = await open({
    answers: { 'connections.saveProfile': () => declined.promise },
  });
  controller.assist('acme-eu');
  const assistant = controller.assistant;
  if (assistant === null) throw new Error('no assistant');
  const saved = assistant.save();
  await assistant.export();
  expect(assistant.notice).toMatch(/^Written to /);
  declined.resolve(done(null));
  expect(await saved).toBe(false);
  expect(assistant.notice).toMatch(/^Written to /);
});
