import { hrefOf } from './navigation.ts'

/**
 * Shares a thread's link with the system's dialog if there is one, otherwise with the clipboard. Returns
 * which.
 */
export async function shareThread(id: string, title: string): Promise<'shared' | 'copied'> {
  const url = location.origin + hrefOf(id)
  // Desktops have the dialog too, but users there paste.
  if (navigator.share && matchMedia('(pointer: coarse)').matches) {
    await navigator.share({ title, url })
    return 'shared'
  }
  // Browsers only have a clipboard on secure origins.
  if (!navigator.clipboard) throw new Error('The browser does not let this page copy.')
  await navigator.clipboard.writeText(url)
  return 'copied'
}
