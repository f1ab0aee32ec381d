import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { sidebar } from './sidebar.ts'

/** The pages are at the paths that they have in the repository, so that links work on the site and in the files alike. */
/** The ids of headings as GitHub makes them, which links between the pages name. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-')

export default defineConfig({
  title: 'agentwire',
  description: 'Serve AI agents from the server you already have.',
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    // Lines of code have up to 110 characters.
    ['style', {}, '.VPDoc.has-aside .content-container { max-width: 900px !important }'],
  ],
  srcDir: '..',
  srcExclude: ['.changeset/**', '.github/**', 'test/**', '.tmp/**'],
  rewrites: {
    'README.md': 'index.md',
    'docs/README.md': 'docs/index.md',
    'examples/README.md': 'examples/index.md',
  },
  cleanUrls: true,
  markdown: { anchor: { slugify } },
  vite: {
    // The API reference, which typedoc writes to docs/public/reference.
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    css: { postcss: {} },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/docs/' },
      { text: 'API reference', link: '/reference/index.html', target: '_self' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar,
  },
})
