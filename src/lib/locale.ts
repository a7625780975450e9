/**
 * The person's own locale: that of the system, as the window's browser tells it. Dates and counts are written with it,
 * tokens and card numbers never are. One that this browser does not know is not used.
 */
export const locale: string = (() => {
  // Not asked of the formats for dates or numbers: their lists take Chromium 25 ms of the window's start.
  const [first = 'en-GB'] = Intl.PluralRules.supportedLocalesOf(navigator.language);
  return first;
})();
