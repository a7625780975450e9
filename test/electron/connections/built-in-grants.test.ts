import { expect, onTestFinished, test } from 'vitest';
import { valueOf } from '../../support/batch-app.ts';
import { openWholeApp } from '../../support/whole-app.ts';

test('what each policy of the built-in service may do is known from its start, and a test finds the same', async () => {
  const app = await openWholeApp();
  onTestFinished(() => app.close());
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  const state = valueOf(await app.ask('app.state', {}));
  const view = 'connections' in state ? state.connections.find((one) => one.id === id) : undefined;
  if (view === undefined) throw new Error('no built-in connection');
  expect(view.grants.map(({ policy }) => policy)).toEqual(view.policies);
  expect(view.grants[0]).toMatchObject({ policy: 'dispute-desk' });
  expect(view.grants[0]?.definitions[0]).toEqual({
    definition: 'card-number',
    known: true,
    allowed: ['Tokenize', 'Detokenize', 'GetMasked', 'Translate'],
    refused: ['BatchTokenize', 'BatchDetokenize', 'BatchTranslate', 'PatternMatch'],
  });

  for (const { policy, definitions } of view.grants) {
    const tested = valueOf(await app.ask('connections.test', { id, policy }));
    for (const found of tested.definitions) {
      const stated = definitions.find(({ definition }) => definition === found.definition);
      expect(stated?.known).toBe(found.known);
      expect([...(stated?.refused ?? [])].sort()).toEqual([...found.refused].sort());
      // The test can't be sure of all that is allowed.
      expect(stated?.allowed).toEqual(expect.arrayContaining(found.allowed));
    }
  }
});
