const schemes: Readonly<Record<string, string>> = {
  PROXY: 'http',
  HTTPS: 'https',
  SOCKS: 'socks4',
  SOCKS4: 'socks4',
  SOCKS5: 'socks5',
};

/**
 * The first entry of Chromium's answer, `PROXY host:port; DIRECT`, as an address; null for a direct connection. A
 * kind of proxy the client can't speak to is named all the same: going around it unasked would be worse than failing.
 */
export function proxyAddress(answer: string): string | null {
  const [kind = '', place = ''] = (answer.split(';')[0] ?? '').trim().split(/\s+/);
  const scheme = schemes[kind.toUpperCase()];
  return scheme === undefined || place === '' ? null : `${scheme}://${place}`;
}
