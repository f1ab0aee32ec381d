import type { Plugin } from 'vitepress'

/** In VitePress, a group is a button that has a button in it, and is one where it cannot be folded. */
const CHANGES: readonly (readonly [string, string])[] = [
  [
    ':role="itemRole"',
    `:role="collapsible ? 'button' : undefined" :aria-expanded="collapsible ? !collapsed : undefined"`,
  ],
  [':tabindex="item.items && 0"', ':tabindex="collapsible ? 0 : undefined"'],
  ['class="caret"\n        role="button"\n        aria-label="toggle section"', 'class="caret"'],
  ['@keydown.enter="onCaretClick"\n        tabindex="0"', ''],
]

/** Makes the groups of the sidebar one button each, with its state, where they can be folded. */
export const accessibleSidebar = (): Plugin => ({
  name: 'agentwire:accessible-sidebar',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/VPSidebarItem.vue')) return
    return CHANGES.reduce((changed, [before, after]) => {
      if (!changed.includes(before)) throw new Error(`VPSidebarItem.vue of VitePress has no ${before}.`)
      return changed.replace(before, after)
    }, code)
  },
})
