/** The logo of agentwire: one line through two agents. `app/icon.svg` is the same on a tile. */
export function Mark({ className = '' }: { readonly className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 32 32" className={className}>
      <path
        d="M3 22c5 0 5-12 10-12s5 12 10 12c3 0 4-3 6-6"
        fill="none"
        stroke="currentColor"
        strokeWidth="3"
        strokeLinecap="round"
      />
      <circle cx="13" cy="10" r="4" fill="currentColor" />
      <circle cx="23" cy="22" r="4" fill="currentColor" />
    </svg>
  )
}
