"""A headless Chromium that is spoken to over a pipe (the DevTools protocol), with what Python has."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
SECONDS = 60


def find():
    """The path of the browser, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One browser with one tab. errors: what the page complained of; requests: the addresses it asked for."""

    def __init__(self, scratch):
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        self.errors, self.requests, self.number, self.rest, self.loaded, self.session = [], [], 0, b'', False, None

        def descriptors():
            # The browser reads commands from 3 and answers on 4; both may stand in the way of each other.
            first, second = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        flags = ['--headless=new', '--remote-debugging-pipe', '--disable-gpu', '--no-first-run', '--disable-extensions', '--disable-background-networking',
                 '--disable-component-update', '--disable-dev-shm-usage', '--hide-scrollbars', '--lang=en', f'--user-data-dir={scratch}/profile']
        if os.geteuid() == 0:
            flags.append('--no-sandbox')
        with open(f'{scratch}/chromium.log', 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen([find(), *flags, 'about:blank'], preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.ask('Target.createTarget', url='about:blank')['targetId']
        self.session = self.ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.ask(domain + '.enable')

    def receive(self):
        while b'\0' not in self.rest:
            if not select.select([self.into], [], [], SECONDS)[0]:
                raise TimeoutError('the browser does not answer')
            part = os.read(self.into, 1 << 20)
            if not part:
                raise EOFError('the browser has ended')
            self.rest += part
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    def note(self, message):
        method, values = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            details = values['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description', details['text']))
        elif method == 'Log.entryAdded' and values['entry']['level'] in ('error', 'warning'):
            self.errors.append(values['entry']['text'])
        elif method == 'Network.requestWillBeSent':
            self.requests.append(values['request']['url'])
        elif method == 'Page.javascriptDialogOpening':
            self.errors.append('dialog: ' + values['message'])
        elif method == 'Page.loadEventFired':
            self.loaded = True

    def ask(self, method, **values):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': values} | ({'sessionId': self.session} if self.session else {})
        os.write(self.out, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer['result']
            self.note(answer)

    def open(self, path, width=1280, height=900, dark=False, scripts=True):
        """Loads a file; errors and requests start anew. Returns the seconds that it took."""
        self.errors, self.requests, self.loaded = [], [], False
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        self.ask('Emulation.setScriptExecutionDisabled', value=not scripts)
        begin = time.monotonic()
        self.ask('Page.navigate', url='file://' + os.path.abspath(path))
        while not self.loaded:
            self.note(self.receive())
        return time.monotonic() - begin

    def run(self, script):
        """The value of a JavaScript expression, promises awaited."""
        answer = self.ask('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(answer['exceptionDetails'].get('exception', {}).get('description', script))
        return answer['result'].get('value')

    def hover(self, x, y):
        self.ask('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)

    def press(self, key):
        for kind in ('keyDown', 'keyUp'):
            self.ask('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode={'Tab': 9}.get(key, 0))

    def screenshot(self, path, whole=True):
        with open(path, 'wb') as out:
            out.write(base64.b64decode(self.ask('Page.captureScreenshot', captureBeyondViewport=whole)['data']))

    def pdf(self, path):
        with open(path, 'wb') as out:
            out.write(base64.b64decode(self.ask('Page.printToPDF', printBackground=False)['data']))

    def close(self):
        try:
            self.session = None
            self.ask('Browser.close')
        except (EOFError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.into)
