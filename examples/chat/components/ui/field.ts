/** How every field for text looks. */
export const FIELD =
  'w-full resize-none rounded-lg border border-line bg-page px-3 py-2 text-sm aria-invalid:border-bad'
