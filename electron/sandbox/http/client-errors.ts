import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { errorBody, statusOf } from '../failures.ts';
import type { Code } from '../failures.ts';

const CODE_OF: Readonly<Record<string, Code>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'RequestTimeout',
  HPE_HEADER_OVERFLOW: 'HeadersTooLarge',
};

/** Answers what isn't HTTP: the parser gave up before there was a request, but a request ID is owed all the same. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) {
    const requestId = randomUUID();
    const failure = { code: CODE_OF[error.code ?? ''] ?? 'BodyMalformed', fields: [] } as const;
    const body = errorBody(failure, requestId);
    const text = JSON.stringify(body);
    socket.write(
      `HTTP/1.1 ${statusOf(failure)} ${body.title}\r\nx-requestid: ${requestId}\r\nConnection: close\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
  socket.destroy();
}
