import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react'
import { Button } from './button.tsx'

interface Toast {
  readonly text: string
  /** An action, such as “Undo”. */
  readonly action?: { readonly label: string; readonly run: () => void }
  /** Runs when the toast disappears without its action. */
  readonly onGone?: () => void
}

const ToastContext = createContext<(toast: Toast) => void>(() => {})

/** Shows a message at the edge of the page for a few seconds. */
export const useToast = (): ((toast: Toast) => void) => useContext(ToastContext)

const SHOWN_MS = 6_000

export function Toasts({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly (Toast & { readonly id: number })[]>([])
  const lastId = useRef(0)
  const remove = useCallback((id: number) => setToasts((shown) => shown.filter((one) => one.id !== id)), [])
  const show = useCallback(
    (toast: Toast) => {
      const id = ++lastId.current
      const timer = setTimeout(() => {
        remove(id)
        toast.onGone?.()
      }, SHOWN_MS)
      const action = toast.action && {
        label: toast.action.label,
        run: () => {
          clearTimeout(timer)
          remove(id)
          toast.action?.run()
        },
      }
      setToasts((shown) => [...shown, { ...toast, id, ...(action && { action }) }])
    },
    [remove],
  )
  return (
    <ToastContext value={show}>
      {children}
      <div
        role="status"
        className="pointer-events-none fixed inset-x-4 top-14 z-60 flex flex-col items-center gap-2"
      >
        {toasts.map(({ id, text, action }) => (
          <div
            key={id}
            className="wrap-anywhere pointer-events-auto flex max-w-lg items-center gap-3 rounded-xl border border-line bg-raised px-4 py-2 text-sm shadow-lg has-[button]:pr-2"
          >
            {text}
            {action && (
              <Button kind="quiet" className="text-brand" onClick={action.run}>
                {action.label}
              </Button>
            )}
          </div>
        ))}
      </div>
    </ToastContext>
  )
}
