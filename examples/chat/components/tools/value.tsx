import { readableName } from '../../lib/tool-calls.ts'

/** Any JSON value in readable form: an object as names and values, a list as a list, text unchanged. */
export function Value({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined || value === '') return <span className="text-faint">empty</span>
  if (typeof value !== 'object')
    return (
      <span dir="auto" className="wrap-anywhere whitespace-pre-wrap">
        {String(value)}
      </span>
    )
  if (Array.isArray(value))
    return value.length === 0 ? (
      <span className="text-faint">none</span>
    ) : (
      <ol className="flex list-decimal flex-col gap-2 pl-5 marker:text-faint">
        {value.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: values have no names.
          <li key={at}>
            <Value value={one} />
          </li>
        ))}
      </ol>
    )
  const entries = Object.entries(value)
  if (entries.length === 0) return <span className="text-faint">none</span>
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      {entries.map(([key, one]) => (
        <div key={key} className="contents">
          <dt className="text-faint">{readableName(key)}</dt>
          <dd className="min-w-0">
            <Value value={one} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
