/**
 * The person's own locale: that of the system, as the window's browser tells it. Dates and counts are written with it,
 * tokens and card numbers never are. One that this browser does not know is not used.
 */
export const locale: string = (() => {
  const [first = 'en-GB'] = Intl.DateTimeFormat.supportedLocalesOf(navigator.language);
  return first;
})();
