import { expect, it } from 'vitest';
import { failed } from '../../../electron/contract/errors.ts';
import type { Api } from '../../../src/lib/api.ts';
import { ApprovalStore, type People } from '../../../src/lib/approval.svelte.ts';

it('what a file that was opened has said stays while the people are read', async () => {
  const read = Promise.withResolvers<unknown>();
  const approval = new ApprovalStore({ call: () => read.promise } as unknown as Api);
  const loading = approval.loadPeople();
  approval.show(failed('approval.same-person'));
  const people = { own: 'ab12' } as unknown as People;
  read.resolve({ ok: true, value: people });
  await loading;
  expect(approval.people).toEqual(people);
  expect(approval.failure?.code).toBe('approval.same-person');
});
