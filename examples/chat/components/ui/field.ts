/** The look of every text field. */
export const FIELD =
  'w-full resize-none rounded-lg border border-line bg-page px-3 py-2 text-sm pointer-coarse:min-h-11 pointer-coarse:text-base aria-invalid:border-bad'
