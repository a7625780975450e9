import { expect, test } from 'vitest';
import type { EventName } from '../../electron/contract/calls.ts';
import { createEventSender } from '../../electron/ipc/router.ts';
import * as data from '../src/support/fake-data.ts';

/* An event with a member that its schema does not list must not reach the window. */

const events: [EventName, object][] = [
  ['app.state', data.appState()],
  ['reveal.ended', { revealId: 'r1', cause: 'time' }],
  ['batch.opening', { name: 'cards.csv', share: 0.5 }],
  ['batch.comparing', { jobId: 'job-1', share: 0.5 }],
  ['batch.exporting', { jobId: 'job-1', share: 0.5, rows: 3 }],
  ['batch.job', data.job()],
  ['batch.removed', { jobId: 'job-1' }],
];

function sending() {
  const sent: unknown[] = [];
  const bugs: string[] = [];
  const send = createEventSender((_event, payload) => sent.push(payload), {
    locked: () => false,
    allowed: (_, message) => message,
    log: { bug: (place) => bugs.push(place) },
  });
  return { send, sent, bugs };
}

test.each(events)('%s with a value that nobody listed is not sent', (name, payload) => {
  const { send, sent, bugs } = sending();
  send(name, payload as never);
  send(name, { ...payload, value: '4111111111111111' } as never);
  expect(sent).toEqual([payload]);
  expect(bugs).toEqual([`event ${name}`]);
});

test('nor with one inside of a listed member', () => {
  const { send, sent, bugs } = sending();
  const { settings, ...rest } = data.appState();
  send('app.state', { ...rest, settings: { ...settings, value: '4111111111111111' } } as never);
  expect(sent).toEqual([]);
  expect(bugs).toEqual(['event app.state']);
});
