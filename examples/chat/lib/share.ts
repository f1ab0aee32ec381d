import { hrefOf } from './navigation.ts'

/** Shares the link of a thread by the dialog of the system where there is one, else by the clipboard. Tells how. */
export async function shareThread(id: string, title: string): Promise<'shared' | 'copied'> {
  const url = location.origin + hrefOf(id)
  // Desktops have the dialog too, but there people paste.
  if (navigator.share && matchMedia('(pointer: coarse)').matches) {
    await navigator.share({ title, url })
    return 'shared'
  }
  // Browsers have a clipboard on safe origins alone.
  if (!navigator.clipboard) throw new Error('The browser does not let this page copy.')
  await navigator.clipboard.writeText(url)
  return 'copied'
}
