/** Runs in the browser, where it may put no markup into the page, only text. */
export const SCRIPT = `
'use strict'
const base = location.pathname.replace(/\\/docs\\/?$/, '')
const operations = [...document.querySelectorAll('.operation')]
const count = document.getElementById('count')

document.getElementById('filter').addEventListener('input', ({ target }) => {
  const words = target.value.toLowerCase().split(/\\s+/)
  for (const operation of operations) {
    const text = operation.querySelector('summary').textContent.toLowerCase()
    operation.hidden = !words.every((word) => text.includes(word))
  }
  for (const section of document.querySelectorAll('main section')) {
    const own = [...section.querySelectorAll('.operation')]
    if (own.length > 0) section.hidden = own.every((operation) => operation.hidden)
  }
  const shown = operations.filter((operation) => !operation.hidden).length
  count.textContent = target.value.trim() === '' ? '' : shown + ' of ' + operations.length + ' operations'
})

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target instanceof HTMLDetailsElement) target.open = true
}
addEventListener('hashchange', openTarget)
openTarget()

function requestOf(form) {
  let path = form.dataset.path
  let body
  const headers = {}
  const query = new URLSearchParams()
  for (const field of form.querySelectorAll('[data-in]')) {
    const { name, value, dataset } = field
    if (dataset.in === 'path') path = path.replace('{' + name + '}', encodeURIComponent(value))
    else if (value === '') continue
    else if (dataset.in === 'body') body = value
    else if (dataset.in === 'header') headers[name] = value
    else for (const one of 'list' in dataset ? value.split(',') : [value]) query.append(name, one.trim())
  }
  const key = document.getElementById('key').value
  if (key !== '') headers['X-Api-Key'] = key
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const search = query.toString()
  return [base + path + (search && '?' + search), { method: form.dataset.method, headers, body }]
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const answer = form.querySelector('.answer')
    const button = form.querySelector('button')
    answer.hidden = false
    answer.textContent = 'Waiting…'
    button.disabled = true
    try {
      const response = await fetch(...requestOf(form))
      answer.textContent = response.status + ' ' + response.statusText + '\\n' + readable(await response.text())
    } catch (error) {
      answer.textContent = 'No answer: ' + error.message
    }
    button.disabled = false
  })
}
`
