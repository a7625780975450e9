import assert from 'node:assert/strict';
import { statement, type Statement } from '../statement.ts';

/** Section 4, general conventions. */
export const conventions: readonly Statement[] = [
  statement('4.2', 'Requests carry Content-Type: application/json', async (target) => {
    const credentials = target.credentials(target.grantee('Tokenize').policy);
    const body = JSON.stringify(target.wireBody('CreateSession', credentials));
    const path = target.path('CreateSession');
    assert.equal((await target.send(path, { body })).status, 200);
    const other = await target.send(path, { body, headers: { 'content-type': 'text/plain' } });
    assert.ok(other.status >= 400 && other.status < 500, `text/plain was answered with ${other.status}`);
    return undefined;
  }),
  statement('4.3', 'Responses are minified JSON by default', async (target) => {
    const { text } = await target.call(
      'CreateSession',
      target.credentials(target.grantee('Tokenize').policy),
    );
    assert.equal(text, JSON.stringify(JSON.parse(text)));
    return undefined;
  }),
  statement('4.3', 'Indented output with the query parameter pretty, no value needed', async (target) => {
    const credentials = target.credentials(target.grantee('Tokenize').policy);
    const body = JSON.stringify(target.wireBody('CreateSession', credentials));
    for (const query of ['?pretty', '?pretty=']) {
      const { text } = await target.send(target.path('CreateSession') + query, { body });
      assert.match(text, /^\{\r?\n\s+"/);
    }
    return undefined;
  }),
  statement('4.3', 'Indented output with the request header x-printpretty', async (target) => {
    const credentials = target.credentials(target.grantee('Tokenize').policy);
    const body = JSON.stringify(target.wireBody('CreateSession', credentials));
    const headers = { 'x-printpretty': 'true' };
    const { text } = await target.send(target.path('CreateSession'), { body, headers });
    assert.match(text, /^\{\r?\n\s+"/);
    return undefined;
  }),
  statement('4.4', 'Every response carries x-requestid', async (target) => {
    const answers = [
      await target.call('CreateSession', target.credentials(target.grantee('Tokenize').policy)),
      await target.call('CreateSession', {}),
      await target.send(target.path('CreateSession'), { body: '{' }),
      await target.send('/api/services/evtservice/no-such-operation', { body: '{}' }),
      await target.send(target.path('Tokenize'), { method: 'GET' }),
    ];
    const ids = answers.map(({ headers }) => headers['x-requestid']);
    for (const id of ids) assert.ok(typeof id === 'string' && id !== '');
    assert.equal(new Set(ids).size, ids.length, 'the same for two requests');
    return undefined;
  }),
];
