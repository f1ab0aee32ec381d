import { SHORTCUTS } from '../../lib/shortcuts.ts'
import { Dialog } from '../ui/dialog.tsx'

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** The page's keyboard shortcuts. */
export function Keys({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog open onOpenChange={onClose} title="Keys">
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-3 p-4 text-sm">
        {SHORTCUTS.map(({ id, keys, text }) => (
          <div key={id} className="contents">
            <dt>{text}</dt>
            <dd className="flex gap-1">
              {keys.split(' ').map((key) => (
                <kbd
                  key={key}
                  className="rounded-md border border-line bg-panel px-1.5 font-sans text-xs leading-5"
                >
                  {isApple && key === 'Ctrl' ? '⌘' : key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
