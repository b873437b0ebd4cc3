"""Plots for docs/compare by gnuplot: one picture per group of cells and figure, a panel per cell, virtual seconds across (log)."""
import os
import shutil
import subprocess
import sys

# method: colour (Okabe and Ito's, which the colour-blind can tell apart), width, point type of gnuplot
STYLES = {
    'fstune': ('#000000', 3.5, 7), 'ttts': ('#D55E00', 1.5, 5), 'random': ('#999999', 1.5, 2), 'grid': ('#8C6D31', 1.5, 1), 'tpe': ('#0072B2', 1.5, 9),
    'cmaes': ('#56B4E9', 1.5, 11), 'gp-ei': ('#009E73', 1.5, 13), 'dlib': ('#CC79A7', 1.5, 4), 'nlopt-direct': ('#E6C700', 1.5, 6),
}
FIGURES = {'share': 'share of seeds within 5 % of the best', 'ratio': 'mean ratio to the best'}
COLUMNS = 4
PANEL_WIDTH, PANEL_HEIGHT, KEY_HEIGHT = 330, 260, 60


def points(table, cell, method, figure):
    for mark in cell.marks:
        counted = table.share([cell.name], method, mark)
        if counted:
            yield mark, counted[0] / counted[1] if figure == 'share' else table.mean_ratio([cell.name], method, mark)


def panel(table, cell, figure, methods):
    """Commands of one panel: data blocks, then the plot."""
    lines, curves = [], []
    for method in methods:
        values = list(points(table, cell, method, figure))
        if not values:
            continue
        colour, width, kind = STYLES[method]
        block = f'$b{len(curves)}'
        lines.append(f'{block} << END\n' + ''.join(f'{x} {y:.5f}\n' for x, y in values) + 'END')
        curves.append((method != 'fstune', f'{block} using 1:2 with linespoints lc rgb "{colour}" lw {width} pt {kind} ps 0.6 notitle'))
    # fstune last, on top.
    order = [text for _, text in sorted(curves, key=lambda curve: not curve[0])]
    ticks = ', '.join(f'"{mark}" {mark}' for mark in cell.marks)
    return lines + [f'set title "{cell.name.split("/")[1]}"', f'set xtics ({ticks})', f'set xrange [{cell.marks[0] * 0.9}:{cell.marks[-1] * 1.1}]',
                    'plot ' + ', '.join(order)]


def key_panel(methods):
    """The legend as a plot of its own across the bottom."""
    lines = ['unset title', 'unset border', 'unset tics', 'unset grid', 'unset xlabel', 'unset logscale', 'set xrange [0:1]', 'set yrange [0:1]',
             'set lmargin 0', 'set rmargin 0', 'set tmargin 0', 'set bmargin 0', 'set origin 0, 0', 'set key center center horizontal samplen 3 width 2']
    curves = []
    for method in methods:
        colour, width, kind = STYLES[method]
        curves.append(f'NaN with linespoints lc rgb "{colour}" lw {width} pt {kind} ps 0.8 title "{method}"')
    return lines, curves


def cells_with_results(table, group, methods):
    return [cell for cell in table.of_group(group)
            if any(table.share([cell.name], method, mark) for method in methods for mark in cell.marks)]


def script(table, group, figure, path, methods):
    drawn = cells_with_results(table, group, methods)
    columns = min(COLUMNS, len(drawn))
    rows = -(-len(drawn) // columns)
    width, height = columns * PANEL_WIDTH, rows * PANEL_HEIGHT + KEY_HEIGHT + 30
    strip = KEY_HEIGHT / height
    lines = [f'set terminal svg size {max(width, 2 * PANEL_WIDTH)},{height} font "sans,12" background "white"', f'set output "{path}"',
             f'set multiplot title "{group}: {FIGURES[figure]} after so many virtual seconds"', 'set logscale x', 'set grid lc rgb "#dddddd"',
             'set yrange [0:1.02]' if figure == 'share' else 'set yrange [*<0.8:1.01]', 'set lmargin 5', 'set rmargin 1.5', 'set tmargin 2', 'set bmargin 2']
    panel_height = (1 - strip - 30 / height) / rows
    for i, cell in enumerate(drawn):
        row, column = divmod(i, columns)
        lines += [f'set size {1 / columns:.5f}, {panel_height:.5f}', f'set origin {column / columns:.5f}, {strip + (rows - 1 - row) * panel_height:.5f}']
        lines += panel(table, cell, figure, methods)
    setting, curves = key_panel(methods)
    lines += setting + [f'set size 1, {strip:.5f}', 'plot ' + ', '.join(curves), 'unset multiplot']
    return '\n'.join(lines) + '\n'


def draw(table, folder):
    """Names of the pictures drawn, such as recorded-share; none, with a message, where gnuplot is missing."""
    if shutil.which('gnuplot') is None:
        print('compare: no plots: gnuplot is missing (Debian: gnuplot-nox)', file=sys.stderr)
        return set()
    os.makedirs(folder, exist_ok=True)
    methods = [method for method in STYLES if method in table.methods]
    drawn = set()
    for group in table.groups:
        played = [method for method in methods if cells_with_results(table, group, [method])]
        if not played:
            continue
        for figure in FIGURES:
            text = script(table, group, figure, os.path.join(folder, f'{group}-{figure}.svg'), played)
            done = subprocess.run(['gnuplot'], input=text, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f'compare: gnuplot: {done.stderr.strip()}', file=sys.stderr)
                continue
            drawn.add(f'{group}-{figure}')
    return drawn
