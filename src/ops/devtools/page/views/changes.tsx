/** @jsxImportSource preact */
import { type Change, pathText } from '../model/diff.ts'
import { JsonTree } from './json-tree.tsx'
import { Empty } from './parts.tsx'

const SIGNS: Readonly<Record<Change['kind'], string>> = { added: '+', removed: '−', changed: '~' }

interface ChangesProps {
  readonly changes: readonly Change[]
  readonly label: string
  /** The text if there are no changes. */
  readonly none: string
}

/** The differences between two states. */
export function Changes({ changes, label, none }: ChangesProps) {
  if (changes.length === 0) return <Empty>{none}</Empty>
  return (
    <ul class="changes" aria-label={label}>
      {changes.map((change) => (
        <li key={pathText(change.path)} class={change.kind}>
          <code class="path">
            {SIGNS[change.kind]} {pathText(change.path)} <span class="hidden">{change.kind}</span>
          </code>
          {change.kind !== 'added' && (
            <div class="before">
              <JsonTree value={change.before} open={1} />
            </div>
          )}
          {change.kind !== 'removed' && (
            <div class="after">
              <JsonTree value={change.after} open={2} />
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}
