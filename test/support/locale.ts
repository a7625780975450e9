/** The window's texts are tested in one locale, whatever the machine's is; `test/src/lib/format.test.ts` takes others. */
Object.defineProperty(navigator, 'language', { value: 'en-GB', configurable: true });
